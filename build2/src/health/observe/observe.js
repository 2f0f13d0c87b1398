import { withFailedView } from "../evidence/leader-views.js";
import { applyDcs } from "./apply-dcs.js";
import { applyDocument } from "./apply-document.js";
import { applyExporter } from "./apply-exporter.js";
import { replaceNode } from "./apply-report.js";
import { applyStatus } from "./apply-status.js";
import { withDrains } from "./drains.js";
import { withIncumbent } from "./incumbent.js";
import { isAgeOnlyChange } from "./revision.js";
import { recordUnchanged } from "./unchanged-report.js";
import { updateLeadership } from "./update-leadership.js";
/**
 * Applies one outcome to a cluster's state. Pure. Every change of a snapshot goes through this function.
 * @param context the policy, and the instant of recording
 * @returns the next state; the same object if the outcome is ignored (an unknown node, an answer older than the
 * recorded one)
 */
export function observe(cluster, outcome, context) {
    const next = apply(withIncumbent(cluster, context), outcome, context);
    return next === cluster || isAgeOnlyChange(cluster, next, context)
        ? next
        : { ...next, revision: cluster.revision + 1 };
}
function apply(cluster, outcome, context) {
    switch (outcome.kind) {
        case "status":
            return recordUnchanged(cluster, outcome, context) ?? applyStatus(cluster, outcome, context);
        case "liveness":
            return applyLiveness(cluster, outcome);
        case "document":
            return updateLeadership(cluster, applyDocument(cluster, outcome.answer, context), context);
        case "view_failure":
            return updateLeadership(cluster, withFailedView(cluster, outcome.node, outcome.sentAtMs), context);
        case "drain":
            return withDrains(cluster, outcome.node, { drain: outcome.drain, nowMs: context.nowMs });
        case "dcs":
            return updateLeadership(cluster, applyDcs(cluster, outcome), context);
        case "exporter":
            return updateLeadership(cluster, applyExporter(cluster, outcome, context), context);
    }
}
function applyLiveness(cluster, { node, isAlive, sentAtMs }) {
    const at = cluster.index.get(node);
    const before = at === undefined ? undefined : cluster.nodes[at];
    if (at === undefined || before === undefined)
        return cluster;
    return replaceNode(cluster, at, { ...before, liveness: { isAlive, sentAtMs } });
}
//# sourceMappingURL=observe.js.map