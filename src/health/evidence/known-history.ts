import type { SwitchPoints } from "../../cluster/documents/history.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/**
 * Returns the history to keep of the known one and one that was just received (rule 4). Nodes return an old one for up
 * to `loop_wait` after a promotion: it lacks the newest rows, and what is known stays. Rows that end the leader's own
 * timeline, or a later one, are not its history, so they do not stay.
 */
export function newerHistory({ switchPoints, position }: KnownHistory, received: SwitchPoints): SwitchPoints {
  if (switchPoints === null) return received;
  const newest = Math.max(...received.keys());
  const isOlder =
    [...received].every(([timeline, at]) => switchPoints.get(timeline) === at) &&
    [...switchPoints.keys()].every(
      (timeline) => received.has(timeline) || (timeline > newest && timeline < (position?.timeline ?? 0)),
    );
  return isOlder ? switchPoints : received;
}

type KnownHistory = Pick<ClusterState, "switchPoints" | "position">;
