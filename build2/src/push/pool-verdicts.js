import { nodeNamed } from "../cluster/lookup.js";
import { judgeMember } from "../health/judge/pool.js";
import { weightInputOf } from "./weight/weight-input.js";
import { serverTargetOf } from "./server-change.js";
/** Judges every server of a pool whose node is known. Pure. */
export function poolVerdicts(view, { check, servers, weight }) {
    const { cluster } = view;
    const pairs = servers === null ? cluster.nodes.map(({ node }) => [node.name, node.name]) : Object.entries(servers);
    const verdicts = [];
    let validUntilMs = Infinity;
    for (const [server = "", node = ""] of pairs) {
        const observation = nodeNamed(cluster, node);
        if (observation === undefined || !isServerName(server))
            continue;
        const verdict = judgeMember(view, observation, check);
        validUntilMs = Math.min(validUntilMs, verdict.validUntilMs, view.lock.validUntilMs);
        verdicts.push({
            server,
            target: serverTargetOf(verdict, check),
            isReplaced: isReplaced(verdict, view, node),
            load: weight === null ? null : weightInputOf(view, observation, verdict.fit),
        });
    }
    return { servers: verdicts, validUntilMs };
}
/**
 * Whether another node leads in place of this one. A node that is only unreachable or has old evidence is not
 * replaced: its sessions may still be in use.
 */
function isReplaced(verdict, { lock }, node) {
    if (verdict.fit || lock.holder === null || lock.holder === node)
        return false;
    return verdict.reason === "superseded" || verdict.reason === "demoted";
}
/** Whether HAProxy accepts a name for a server. A node with another name has no server of its name. */
function isServerName(text) {
    return /^[\w.:-]{1,128}$/.test(text);
}
//# sourceMappingURL=pool-verdicts.js.map