import { STATUS_CODES } from "node:http";
import { writeReply } from "../http/message/http-exchange.js";
import { jsonReply } from "../http/message/reply.js";
/** Writes a refusal as a JSON error. Destroys a response that has begun already: it must not look complete. */
export function refuse(response, { status, error, message }) {
    if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
    }
    const isTemporary = status === 429 || status === 503;
    writeJson(response, { error, message }, { status, headers: ["X-Rolecall-Reason", error, ...(isTemporary ? ["Retry-After", "1"] : [])] });
}
/** Writes a JSON document. `headers`: name, value, name, value, … */
export function writeJson(response, document, { status, headers }) {
    const phrase = STATUS_CODES[status] ?? "";
    const reply = jsonReply({ code: status, phrase }, JSON.stringify(document), headers);
    writeReply(response, reply, response.req.method ?? "GET");
}
//# sourceMappingURL=refuse.js.map