import type { Member } from "../../src/core/cluster/documents/cluster-document.ts";
import type { WitnessView } from "../../src/core/cluster/snapshot.ts";

/** A row of a member list that states the member's API address alone. */
export function memberAt(name: string, api: string): Member {
  return { name, api, host: null, port: null, behind: null, position: null };
}

/** A view of nobody's leadership, with a member list. @param rows member name -> its API address */
export function listingView(rows: Readonly<Record<string, string>>): WitnessView {
  return {
    leader: null,
    names: null,
    timeline: null,
    sentAtMs: 0,
    received: null,
    isReceiving: false,
    answeredAtMs: 0,
    repeatedAtMs: [],
    namesAt: null,
    members: new Map(Object.entries(rows).map(([name, api]) => [name, memberAt(name, api)])),
    unaddressed: new Set(),
    leftOut: [],
    isPartial: false,
  };
}
