import type { ConfigIssue } from "../model/issue.ts";
import { checkCertificate } from "./cluster-checks.ts";
import { repetitionIssues } from "./name-checks.ts";
import type { ValidParts } from "./valid-parts.ts";

/** Checks the peers against each other. */
export function checkPeers({ peers }: ValidParts): readonly ConfigIssue[] {
  const placed = peers.map((peer, index) => ({ peer, path: ["peers", index] }));
  return [
    ...repetitionIssues(
      placed.map(({ peer, path }) => ({ path: [...path, "name"], value: peer?.name })),
      "a name that no other peer has",
    ),
    ...repetitionIssues(
      placed.map(({ peer, path }) => ({ path: [...path, "url"], value: peer?.url })),
      "an address that no other peer has",
    ),
    ...placed.flatMap(({ peer, path }) => checkCertificate(peer?.tls ?? null, [...path, "tls"])),
  ];
}
