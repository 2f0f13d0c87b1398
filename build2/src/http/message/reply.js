/** Prepares a reply that is sent many times. `pieces` are not supported. */
export function prepareReply(reply, method) {
    const body = method === "OPTIONS" && reply.hasOptionsBody !== true ? Buffer.alloc(0) : reply.body;
    const headers = [...reply.headers, "Content-Length", String(body.length)];
    return { ...reply, wire: { method, headers, text: method === "HEAD" ? "" : body.toString("latin1") } };
}
const json = ["Cache-Control", "no-store", "Content-Type", "application/json"];
/** Returns a JSON reply. `headers` are added to those of every reply (design.md, "The node API"). */
export function jsonReply(status, body, headers = []) {
    return {
        status: status.code,
        phrase: printable(status.phrase),
        headers: [...json, ...headers],
        body: Buffer.from(body),
    };
}
/** Longer lists of allowed values are cut, so that a few bytes cannot request megabytes. In characters. */
const allowedMax = 2_000;
/** Returns the 400 reply for a request that cannot be parsed. It names the parameter, its value and what is allowed. */
export function badRequest({ subject, value, allowed: all }) {
    const allowed = all.length > allowedMax ? `${all.slice(0, allowedMax)}…` : all;
    const shown = value.length > 200 ? `${value.slice(0, 200)}…` : value;
    const message = `Cannot read ${subject}: it must be ${allowed}, got ${JSON.stringify(shown)}`;
    const body = JSON.stringify({ error: "bad_request", thing: subject, value: shown, allowed, message });
    return jsonReply({ code: 400, phrase: `bad_request ${subject}` }, body, ["X-Rolecall-Reason", "bad_request"]);
}
/** Returns a JSON error: a code for programs and a sentence for people. */
export function errorReply(code, error, rest) {
    return jsonReply({ code, phrase: error }, JSON.stringify({ error, message: rest.message }), rest.headers ?? []);
}
/**
 * Returns the 405 reply for a method that a path does not have.
 * @param allow the methods that it has, as in the Allow header
 */
export function methodNotAllowed(method, allow) {
    const message = `Cannot ${method} this path: the method must be one of ${allow}`;
    return errorReply(405, "method_not_allowed", { message, headers: ["Allow", allow] });
}
/**
 * Returns text that is valid in a status line or header: printable ASCII of bounded length. Names may come from any
 * document.
 */
export function printable(text) {
    return text.replace(/[^\u0020-\u007e]/g, "?").slice(0, 120);
}
//# sourceMappingURL=reply.js.map