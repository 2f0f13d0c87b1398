import { clusterNamed } from "../../cluster/lookup.js";
import { drainMsMax, drainTextMax } from "../../cluster/drain.js";
import { parseDuration } from "../../cluster/values/duration.js";
import { nameOf } from "../../cluster/values/json.js";
import { drainOverview } from "../../health/explain/overview.js";
import { readJsonBody } from "../message/json-body.js";
import { badRequest, errorReply, jsonReply, methodNotAllowed } from "../message/reply.js";
/**
 * Answers `GET /drains`, `POST /drains/{cluster}/{node}` with `{"for": "30min", "reason": "…", "all": false, "by":
 * "…"}`, and `DELETE` of the same path with an optional `{"by": "…"}`. Only admin listeners have these.
 * @param path without leading and trailing slashes
 */
export async function answerDrainRequest(path, message, context) {
    const [, cluster, node, ...rest] = path.split("/");
    const { method = "GET" } = message;
    if (cluster === undefined)
        return ["GET", "HEAD"].includes(method) ? list(context) : methodNotAllowed(method, "GET, HEAD");
    if (node === undefined || rest.length > 0)
        return errorReply(404, "not_found", {
            message: "Cannot find this path: drains are at /drains and /drains/{cluster}/{node}",
        });
    if (method !== "POST" && method !== "DELETE")
        return methodNotAllowed(method, "POST, DELETE");
    return change({ cluster, node }, message, context);
}
function list(context) {
    const drains = context.snapshot().clusters.flatMap((cluster) => [...cluster.drains.keys()].flatMap((node) => {
        const drain = drainOverview(cluster, node, context.now());
        return drain === null ? [] : [{ cluster: cluster.name, node, ...drain }];
    }));
    return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ drains }));
}
async function change({ cluster, node }, message, context) {
    const read = await readJsonBody(message);
    if (!read.ok)
        return read.reply;
    const { body } = read;
    const snapshot = context.snapshot();
    const state = clusterNamed(snapshot, cluster);
    if (state === undefined)
        return notFound("cluster", cluster, [...snapshot.index.keys()]);
    if (message.method === "DELETE") {
        const isEnded = context.end(cluster, node, nameOf(body["by"], drainTextMax));
        if (!isEnded)
            return errorReply(404, "not_drained", { message: `Cannot end the drain of ${node} in ${cluster}: it has none` });
        return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, drain: null }));
    }
    if (!state.index.has(node) && (state.isMembershipKnown || state.drains.size > 100))
        return notFound("node", node, [...state.index.keys()]);
    const request = readDrainRequest(body);
    if ("reply" in request)
        return request.reply;
    context.begin(cluster, node, request);
    return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, drain: drainOf(context, { cluster, node }) }));
}
function drainOf(context, { cluster, node }) {
    const state = clusterNamed(context.snapshot(), cluster);
    return state === undefined ? null : drainOverview(state, node, context.now());
}
function readDrainRequest(body) {
    const duration = body["for"];
    const forMs = typeof duration === "string" ? parseDuration(duration) : undefined;
    if (forMs === undefined || forMs < 1 || forMs > drainMsMax) {
        return {
            reply: badRequest({ subject: "for", value: shown(duration), allowed: "a duration up to 30d, such as 30min, 2h" }),
        };
    }
    const reason = nameOf(body["reason"], drainTextMax);
    if (reason === null || reason.trim() === "") {
        return {
            reply: badRequest({
                subject: "reason",
                value: shown(body["reason"]),
                allowed: `text on one line of at most ${drainTextMax} characters`,
            }),
        };
    }
    const { all = false } = body;
    if (typeof all !== "boolean")
        return { reply: badRequest({ subject: "all", value: shown(all), allowed: "true or false" }) };
    return { forMs, reason, isAll: all, by: nameOf(body["by"], drainTextMax) };
}
function shown(value) {
    return value === undefined ? "nothing" : JSON.stringify(value);
}
function notFound(what, value, known) {
    return errorReply(404, `unknown_${what}`, {
        message: `Cannot find ${what} ${JSON.stringify(value)}: it must be one of ${known.join(", ")}`,
    });
}
//# sourceMappingURL=drains-api.js.map