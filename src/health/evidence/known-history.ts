import type { SwitchPoints } from "../../cluster/documents/history.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/**
 * Returns the history to keep: the known one or the received one (rule 4). For up to `loop_wait` after a promotion,
 * nodes return an old history, which lacks the newest rows. The known one is then kept, but not if one of these rows
 * ends the leader's present timeline or a later one: the history of the leader cannot contain such a row.
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
