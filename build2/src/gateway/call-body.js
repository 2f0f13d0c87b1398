import { isObject, parseJson } from "../cluster/values/json.js";
import { readBody } from "../http/message/request-body.js";
/**
 * Reads the body of a management call. A call reaches the node only if its body is complete, so that no node sees half
 * a configuration.
 * @returns `null` if the call was answered, or its client has left; it is audited then
 */
export async function readCallBody(context, limiter) {
    const { call, incoming } = context;
    const { message, response, caller, limits } = incoming;
    const { expect, "content-length": length, "transfer-encoding": coding } = message.headers;
    if (requiresBody(call) && length === undefined && coding === undefined) {
        const text = `${call.method} /${call.name} needs a body and its length`;
        context.refuse({ status: 411, error: "length_required", message: text });
        return null;
    }
    const release = limiter.acquire(caller.address);
    if (release === null) {
        const text = "Cannot read the call: too many bodies are being received";
        context.refuse({ status: 429, error: "busy", message: text });
        return null;
    }
    try {
        if (expect !== undefined)
            response.writeContinue();
        const body = await readBody(message, limits.bodyMax);
        if (body.kind === "whole")
            return body.bytes;
        if (body.kind === "aborted") {
            context.audit({ node: null, status: 499, outcome: "refused", problem: "the client closed the connection" });
            response.destroy();
            return null;
        }
        const text = `Cannot forward the call: its body must have at most ${limits.bodyMax} bytes, got more`;
        context.refuse({ status: 413, error: "too_large", message: text });
        return null;
    }
    finally {
        release();
    }
}
/** The calls for which nodes require a body. Without a length they answer 411. */
function requiresBody({ name, method }) {
    return name === "config" || name === "failover" || (name === "switchover" && method === "POST");
}
/** Renames `from-leader`, as the documentation spells it, to `from_leader`, as nodes read it. */
export function normalizeReinitialize(body) {
    const value = parseJson(body.toString("utf8"));
    if (!isObject(value) || value["from-leader"] === undefined)
        return body;
    const { "from-leader": fromLeader, ...rest } = value;
    return Buffer.from(JSON.stringify({ from_leader: fromLeader, ...rest }));
}
//# sourceMappingURL=call-body.js.map