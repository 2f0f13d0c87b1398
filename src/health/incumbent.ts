import type { ClusterPart } from "../cluster/snapshot.ts";
import type { Settings } from "./settings.ts";

/**
 * Remembers whose claim stood last (design.md, rule 2). Claims of one round (our own start, a thaw) are not ordered by the milliseconds
 * between their answers: while the last one's claim may only not have been heard again yet, another takes its place after half an interval.
 * @param nowMs ms of our clock
 */
export function withIncumbent(
  part: ClusterPart,
  { settings, nowMs }: { readonly settings: Settings; readonly nowMs: number },
): ClusterPart {
  const { holder, incumbent, nodes, index } = part;
  if (holder === null || holder === incumbent) return part;
  const sinceMs = nodes[index.get(holder) ?? -1]?.claimedSinceMs ?? Infinity;
  const isReplaced = hasGivenUp(part) || nowMs - sinceMs >= settings.intervalMs / 2;
  return isReplaced ? { ...part, incumbent: holder } : part;
}

/** Whether the node that stood last was heard without a claim since, or does not answer. */
function hasGivenUp({ incumbent, nodes, index }: ClusterPart): boolean {
  if (incumbent === null) return false;
  const before = nodes[index.get(incumbent) ?? -1];
  return before === undefined || before.isDown || before.failuresInRow > 0 || (before.report !== null && !before.hasLock);
}
