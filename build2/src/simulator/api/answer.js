import { STATUS_CODES } from "node:http";
/** Returns a bare status line: health checks by HEAD or OPTIONS, `/liveness`, `/readiness`. */
export function bare(status) {
    return { kind: "bare", status };
}
/** Returns a JSON document. */
export function json(status, document) {
    return { kind: "full", status, contentType: "application/json", body: JSON.stringify(document) };
}
/** Returns the text of a management call, which real nodes send as text/html. */
export function text(reply) {
    return { kind: "full", status: reply.status, contentType: "text/html", body: reply.text };
}
/** Returns an error without a text of its own: the page of Python's http.server, shortened. */
export function errorPage(status) {
    const phrase = STATUS_CODES[status] ?? "Error";
    const body = `<!DOCTYPE HTML>\n<html><head><title>Error response</title></head><body><h1>Error response</h1><p>Error code: ${String(status)}</p><p>Message: ${phrase}.</p></body></html>\n`;
    return { kind: "full", status, contentType: "text/html;charset=utf-8", body };
}
//# sourceMappingURL=answer.js.map