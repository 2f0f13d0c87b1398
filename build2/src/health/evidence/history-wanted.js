import { lockHolderOf } from "../../cluster/leadership.js";
import { nodeNamed } from "../../cluster/lookup.js";
/**
 * Whether the known history ends before the holder's timeline and must be requested again: nodes return an old one for
 * up to `loop_wait` after a promotion. The first timeline has no history.
 */
export function isHistoryWanted(cluster) {
    const timeline = nodeNamed(cluster, lockHolderOf(cluster.leadership))?.report?.timeline ?? null;
    return timeline !== null && timeline > 1 && cluster.switchPoints?.has(timeline - 1) !== true;
}
//# sourceMappingURL=history-wanted.js.map