import { type ConfigOrigin, absolute, absoluteTls } from "../../../core/config/assemble.ts";
import { checkCertificate } from "../../../core/config/checks/cluster-checks.ts";
import { repetitionIssues } from "../../../core/config/checks/name-checks.ts";
import { elementsOf, valid } from "../../../core/config/checks/valid-parts.ts";
import type { WholeShape } from "../../../core/config/model/config.ts";
import type { ConfigIssue } from "../../../core/config/model/issue.ts";
import { nameOf, objectOf } from "../../../core/cluster/values/json.ts";
import { peerSchema } from "./peer-schema.ts";

/** Checks the peers against each other. */
export function checkPeers({ peers: written }: Readonly<Record<string, unknown>>): readonly ConfigIssue[] {
  const placed = elementsOf(written).map((element, index) => ({
    name: nameOf(objectOf(element)["name"]),
    peer: valid(peerSchema, element),
    path: ["peers", index],
  }));
  return [
    ...repetitionIssues(
      placed.map(({ peer, name, path }) => ({ path: [...path, "name"], value: peer === null ? null : name })),
      "a name that no other peer has",
    ),
    ...repetitionIssues(
      placed.map(({ peer, path }) => ({ path: [...path, "url"], value: peer?.url })),
      "an address that no other peer has",
    ),
    ...placed.flatMap(({ peer, path }) => checkCertificate(peer?.tls ?? null, [...path, "tls"])),
  ];
}

/** Makes the file names of the peers absolute. */
export function completePeers(shape: WholeShape, { folder }: ConfigOrigin): WholeShape {
  const peers = shape.peers.map((peer) => ({
    ...peer,
    tls: absoluteTls(() => folder, peer.tls),
    tokenFile: absolute(folder, peer.tokenFile),
  }));
  return { ...shape, peers };
}
