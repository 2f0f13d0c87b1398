import { statedPosition } from "../world/documents.ts";
import type { Scene } from "./scene.ts";
import type { Evidence } from "../wire/evidence.ts";
import { documentOf, type Served } from "../wire/served.ts";

/** The highest position that an answer states, or null. */
export function topOf(served: Served | undefined): number | null {
  const stated = statedPosition(documentOf(served));
  if (stated === null) return null;
  return "location" in stated ? stated.location : Math.max(stated.received, stated.replayed);
}

/** The replayed position that an answer states, or null. */
export function replayedOf(served: Served | undefined): number | null {
  const stated = statedPosition(documentOf(served));
  if (stated === null) return null;
  return "location" in stated ? stated.location : stated.replayed;
}

/** The timeline that an answer states. */
export function timelineOf(served: Served | undefined): unknown {
  return documentOf(served)?.["timeline"];
}

/** Whether an answer is that of a promoted lock holder: before its promotion, its position is not the leader's. */
export function isLeading(served: Served | undefined): boolean {
  return served?.status === 200 && documentOf(served)?.["role"] !== "replica";
}

/** Whether the sender list of an answer shows a node. */
export function isListedBy(served: Served | undefined, node: string): boolean {
  const list = documentOf(served)?.["replication"];
  return (
    Array.isArray(list) &&
    (list as { application_name?: unknown }[]).some(({ application_name }) => application_name === node)
  );
}

/**
 * When a leader last reported a lower position than before on its timeline, in an answer that rolecall surely had at an
 * instant; minus infinity if it never did.
 */
export function fallenBefore(evidence: Evidence, leader: string, byMs: number): number {
  const answers = evidence
    .since(leader, "status", -Infinity)
    .filter((one) => one.status === 200 && topOf(one) !== null && evidence.isSure(one) && (one.doneMs ?? 0) < byMs);
  const last = answers.findLastIndex((one, at) => {
    const before = answers[at - 1];
    return timelineOf(one) === timelineOf(before) && (topOf(one) ?? 0) < (topOf(before) ?? 0);
  });
  return answers[last]?.arrivedMs ?? -Infinity;
}

/** Whether configured addresses may have given lists that omit the member: then its address is its own no more. */
export function mayBeOutvoted(
  { isDiscovered, seats, evidence, profile }: Scene,
  member: string,
  byMs: number,
): boolean {
  if (!isDiscovered) return false;
  const fromMs = byMs - 3 * profile.clusterMs - profile.timeoutMs;
  return seats.some(({ node }) =>
    evidence.since(node.name, "cluster", fromMs).some((served) => {
      const members = documentOf(served)?.["members"];
      return Array.isArray(members) && !(members as { name?: unknown }[]).some(({ name }) => name === member);
    }),
  );
}
