import { clusterNamed, nodeNamed } from "../../cluster/lookup.js";
import { plainCheck } from "../../health/check.js";
import { judgeMember, judgePool } from "../../health/judge/pool.js";
import { viewAt } from "../../health/evidence/cluster-view.js";
import { unfit } from "../../health/verdict.js";
import { withServerState } from "./haproxy-server-state.js";
import { badRequest, errorReply, jsonReply, methodNotAllowed, printable } from "../message/reply.js";
import { statusReply, verdictReply } from "./verdict-reply.js";
/**
 * How old `observed_at` and `snapshot` may be in a cached reply, in ms. A report that changes only ages does not end
 * it.
 */
const keptMsMax = 1_000;
/**
 * Answers a request about a cluster's nodes, and says how long the reply may be kept. Pure.
 * @returns the reply, and the instant up to which it may be kept while the cluster's `revision` stays the same
 */
export function answerCluster(question, request, inputs) {
    const { reply, validUntilMs } = question.kind === "check"
        ? answerCheck(question.target, withServerState(question.check, request.serverState), inputs)
        : answerStatus(question.target, inputs);
    return { reply, validUntilMs: Math.min(validUntilMs, inputs.nowMs + keptMsMax) };
}
/** Answers a request from memory. A pure function of its arguments: it does not wait, send or write anything. */
export function answer(question, request, inputs) {
    switch (question.kind) {
        case "check":
        case "status":
            return answerCluster(question, request, inputs).reply;
        case "document":
            return answerDocument(question.target, question.name, inputs);
        case "bad_request":
            return badRequest(question.problem);
        case "not_allowed":
            return methodNotAllowed(request.method, question.allow);
        case "operator_off":
            return errorReply(403, "operator_pages_off", {
                message: `Cannot answer /${question.path}: this listener has no operator pages. Request it from an admin listener (dialect: admin), or set operator_pages: true on this one`,
            });
        case "forbidden":
            return errorReply(403, "management_off", {
                message: `Cannot forward ${question.call}: management calls are off on this listener. Set the listener option management: on`,
            });
    }
}
function answerCheck(target, check, inputs) {
    const resolved = resolveTarget(target, inputs);
    if ("reply" in resolved)
        return { reply: resolved.reply, validUntilMs: Infinity };
    const { view, observation } = resolved;
    const { snapshot } = inputs;
    if (target.node === null) {
        const { verdict, chosen } = judgePool(view, check);
        return verdictReply({ snapshot, view, observation: chosen }, verdict, check);
    }
    if (observation === null)
        return verdictReply({ snapshot, view, observation }, unfit("unknown"), check);
    return verdictReply({ snapshot, view, observation }, judgeMember(view, observation, check), check);
}
/**
 * Answers `/patroni` and `/ha`. For a whole cluster: the document of the primary, else of the node with the least lag.
 */
function answerStatus(target, inputs) {
    const resolved = resolveTarget(target, inputs);
    if ("reply" in resolved)
        return { reply: resolved.reply, validUntilMs: Infinity };
    const { view } = resolved;
    const { snapshot } = inputs;
    if (target.node !== null)
        return statusReply({ snapshot, view, observation: resolved.observation });
    const readable = judgePool(view, plainCheck("read-only"));
    const { chosen, verdict } = readable.chosen === null ? judgePool(view, plainCheck("health")) : readable;
    const { reply, validUntilMs } = statusReply({ snapshot, view, observation: chosen });
    return {
        reply,
        validUntilMs: Math.min(validUntilMs, readable.verdict.validUntilMs, verdict.validUntilMs),
    };
}
function answerDocument(target, name, inputs) {
    const resolved = resolveTarget(target, inputs);
    if ("reply" in resolved)
        return resolved.reply;
    const served = resolved.view.cluster.documents[name];
    if (served === null) {
        const message = `Cannot serve /${name} of cluster ${target.cluster}: no node has answered it yet`;
        return errorReply(503, "unknown", { message, headers: ["X-Rolecall-Node", "-", "X-Rolecall-Reason", "unknown"] });
    }
    const age = Math.max(0, Math.round((inputs.nowMs - served.sentAtMs) / 1000));
    const headers = ["X-Rolecall-Node", printable(served.source), "Age", String(age)];
    if (served.status !== 200)
        return errorReply(served.status, "none", { message: `The cluster has no /${name}`, headers });
    return jsonReply({ code: 200, phrase: "OK" }, served.body, headers);
}
/**
 * Answers `/livez` (the process runs) and `/readyz` (send it traffic). Both report rolecall only, never a database.
 * @param directory the listeners that the sender of the request can reach, if the listener names them
 */
export function answerSelf(path, unready, directory) {
    if (path === "livez" || unready === null)
        return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ status: "ok", ...directory }));
    return jsonReply({ code: 503, phrase: unready }, JSON.stringify({ status: unready, ...directory }));
}
/** Finds the cluster and node of a request. Before the first member list, any node name may turn out to exist. */
function resolveTarget(target, { snapshot, policy: healthPolicy, nowMs }) {
    const cluster = clusterNamed(snapshot, target.cluster);
    const policy = healthPolicy(target.cluster);
    if (cluster === undefined || policy === undefined) {
        return {
            reply: badRequest({
                subject: "cluster",
                value: target.cluster,
                allowed: `one of ${[...snapshot.index.keys()].join(", ")}`,
            }),
        };
    }
    const view = viewAt(cluster, policy, nowMs);
    if (target.node === null)
        return { view, observation: null };
    const observation = find(cluster, target.node, target.isAnyCase);
    if (observation === undefined && cluster.isMembershipKnown) {
        return {
            reply: badRequest({
                subject: "node",
                value: target.node,
                allowed: `one of ${[...cluster.index.keys()].join(", ")}`,
            }),
        };
    }
    return { view, observation: observation ?? null };
}
function find(cluster, name, isAnyCase) {
    const exact = nodeNamed(cluster, name);
    if (exact !== undefined || !isAnyCase)
        return exact;
    return cluster.nodes.find(({ node }) => node.name.toLowerCase() === name.toLowerCase());
}
//# sourceMappingURL=answer.js.map