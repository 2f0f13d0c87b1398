import { isObject, parseJson } from "../../cluster/values/json.js";
import { CommandError } from "../framework/command-error.js";
import { replyMessage } from "./rolecall-client.js";
/**
 * Reads the reply to a call with `?dry_run=1`. A reply of another status refuses the request itself.
 * @param call what was sent, as `POST /switchover`
 * @throws CommandError (RC007) if the reply is a success, but not the document of a dry run: the server may have
 *   executed the call
 */
export function readDryRun(call, reply) {
    const document = parseJson(reply.text);
    const isSuccess = reply.status >= 200 && reply.status < 300;
    const isDecision = isObject(document) && document["dry_run"] === true;
    if (!isSuccess)
        return { would: "refuse", status: reply.status, reason: reply.phrase, message: replyMessage(reply) };
    if (!isDecision || (document["would"] !== "pass" && document["would"] !== "refuse")) {
        throw new CommandError("RC007", `Cannot read the reply to the dry run of ${call}: it must be what rolecall would do, got ${reply.status} ` +
            `${reply.phrase}. The server may not be rolecall, and may have executed the call`);
    }
    if (document["would"] === "pass")
        return { would: "pass", node: nodeOf(document) };
    const { status, error, message } = document;
    return {
        would: "refuse",
        status: typeof status === "number" ? status : null,
        reason: typeof error === "string" ? error : "",
        message: typeof message === "string" ? message : "no reason given",
    };
}
/** The node that the call would be sent to, as `demo/pg1`. */
function nodeOf({ cluster, node }) {
    if (typeof node !== "string")
        return null;
    return typeof cluster === "string" ? `${cluster}/${node}` : node;
}
//# sourceMappingURL=dry-run.js.map