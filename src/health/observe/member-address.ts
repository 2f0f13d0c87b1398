import type { Member } from "../../cluster/documents/cluster-document.ts";
import type { Observation } from "../../cluster/observation.ts";
import { isVotedTo, type AddressVotes } from "../evidence/address-votes.ts";
import { mayLoseAddress, isOwnDocument, type Authority } from "../evidence/member-authority.ts";

/** A node's entry in a member list. */
export type Row = Member;

/** The changes of known nodes' addresses by one member list. */
export interface Assigned {
  /** Index of a node -> its new address. */
  readonly addresses: ReadonlyMap<number, string>;
  /** Indices of nodes that are removed because a known member now has their address. */
  readonly replaced: ReadonlySet<number>;
}

/** What a list may change addresses by. */
export interface Grounds {
  readonly authority: Authority;
  readonly votes: AddressVotes;
}

/**
 * Decides which known nodes take another address (rule 10). Nodes may swap addresses in one list. A node does not get
 * the address of a node that stays.
 * @param rows the list's entries, by the index of their node
 */
export function assignAddresses(
  nodes: readonly Observation[],
  rows: ReadonlyMap<number, Row>,
  grounds: Grounds,
): Assigned {
  const { authority } = grounds;
  const owners = new Map<string, number>();
  for (const [at, { node }] of nodes.entries()) if (node.api !== null) owners.set(node.api, at);
  const addresses = allowedMoves(nodes, rows, grounds);
  const replaced = new Set<number>();
  // A refused node keeps its address, which may refuse another node.
  for (let isStable = false; !isStable;) {
    isStable = true;
    replaced.clear();
    for (const [at, api] of addresses) {
      const owner = owners.get(api);
      const held = owner === undefined || addresses.has(owner) ? undefined : nodes[owner];
      if (owner === undefined || held === undefined) continue;
      if (!rows.has(owner) && mayLeave(held, authority)) replaced.add(owner);
      else {
        addresses.delete(at);
        isStable = false;
      }
    }
  }
  return { addresses, replaced };
}

/** Whether a member listed at a node's address may replace that node, if the list omits it. */
export function mayLeave(known: Observation, authority: Authority): boolean {
  if (known.node.isFixed) return false;
  // A node that reports no name may be another one at the same address: its own document shows it.
  if (isOwnDocument(known.node, authority)) return known.report?.name === null;
  return authority.namesHolder && mayLoseAddress(known, authority.fall);
}

/** The moves that the lists allow. Of two nodes for one address the first by name gets it. */
function allowedMoves(
  nodes: readonly Observation[],
  rows: ReadonlyMap<number, Row>,
  grounds: Grounds,
): Map<number, string> {
  const takers = new Map<string, { readonly at: number; readonly name: string }>();
  for (const [at, row] of rows) {
    const { name, api } = row;
    const known = nodes[at];
    if (known === undefined || api === known.node.api || !mayMove(known, row, grounds)) continue;
    const rival = takers.get(api);
    if (rival === undefined || name < rival.name) takers.set(api, { at, name });
  }
  return new Map([...takers].map(([api, { at }]) => [at, api]));
}

function mayMove(known: Observation, { api }: Row, { authority, votes }: Grounds): boolean {
  const { node } = known;
  // The configuration decides the address of a fixed node. One configured with its exporter alone takes the listed
  // address.
  if (node.isFixed) return node.api === null && authority.namesHolder;
  return isVotedTo(votes, known, api);
}
