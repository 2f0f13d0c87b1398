import { plainCheck } from "../../health/check.js";
import { viewAt } from "../../health/evidence/cluster-view.js";
import { attachmentKnowledge } from "../../health/explain/attachment-knowledge.js";
import { judgeMember } from "../../health/judge/pool.js";
import { routeOf } from "../../health/route.js";
import { formatDuration } from "../output/figures.js";
/** A verdict that says fit although nobody has watched the node for long enough. */
export const notKnown = "not known";
/** Whether a node that is fit for a check is known to be attached, as far as this process has probed. */
export function knowledgeOf(probed, cluster, { observation, check }) {
    const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
    if (state === undefined || policy === undefined)
        return notKnown;
    const view = viewAt(state, policy, probed.now());
    return attachmentKnowledge(view, { observation, check }, probed.firstReached(cluster, observation.node.name));
}
/** The nodes of a cluster that are fit for a check and of which that is certain. */
export function certainlyFit(probed, cluster, check) {
    const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
    if (state === undefined || policy === undefined)
        return [];
    const view = viewAt(state, policy, probed.now());
    return state.nodes.filter((observation) => judgeMember(view, observation, check).fit && knowledgeOf(probed, cluster, { observation, check }) !== notKnown);
}
/** How long the nodes were watched, for people: `seen once`, `watched for 5 s`. */
export function watchedFor(probed) {
    const ms = probed.watchedMs();
    return ms < 1 ? "seen once" : `watched for ${formatDuration(ms)}`;
}
/**
 * The status of all clusters as this process has probed them. A verdict `fit` becomes `not known`
 * while it is not known whether the node is attached.
 */
export function probedStatus(probed) {
    const clusters = probed.overview().clusters.map((overview) => {
        const observations = probed.cluster(overview.cluster)?.nodes ?? [];
        const nodes = overview.nodes.map((row) => {
            const observation = observations.find(({ node }) => node.name === row.node);
            return observation === undefined
                ? { ...row, attachment: null }
                : withKnowledge(probed, overview.cluster, { row, observation });
        });
        return { ...overview, nodes };
    });
    return { by: "probed here", clusters };
}
/** Whether every node that is fit is known to be attached, if that matters. */
export function isEverythingKnown(probed) {
    return probedStatus(probed).clusters.every(({ nodes }) => nodes.every(({ attachment }) => attachment !== notKnown));
}
function withKnowledge(probed, cluster, { row, observation }) {
    const known = new Map(Object.entries(row.verdicts).map(([name, verdict]) => {
        const route = verdict === "fit" ? routeOf(name) : undefined;
        return [
            name,
            route === undefined ? null : knowledgeOf(probed, cluster, { observation, check: plainCheck(route) }),
        ];
    }));
    const isUnknown = [...known.values()].includes(notKnown);
    return {
        ...row,
        verdicts: Object.fromEntries(Object.entries(row.verdicts).map(([route, verdict]) => [
            route,
            known.get(route) === notKnown ? notKnown : verdict,
        ])),
        warning: isUnknown ? `attachment not known: ${watchedFor(probed)}` : row.warning,
        attachment: isUnknown ? notKnown : [...known.values()].includes("known") ? "known" : null,
    };
}
/** Reports that a verdict is not known (RC032): the command could not complete. @param seen as {@link watchedFor} */
export function diagnoseUnknown(result, subject, seen) {
    result.diagnose("RC032", {
        message: `${subject}: fit so far, but whether it is attached is not known: ${seen}`,
        incomplete: true,
    });
}
//# sourceMappingURL=attachment.js.map