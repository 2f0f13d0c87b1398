/**
 * Serializes a reply to the bytes that node:http would write for it: HTTP/1.1 whatever the version of the request, our
 * headers, Content-Length, then Connection and Keep-Alive. The self-test of the fast path and a test compare both.
 */
export function renderReply({ status, phrase, headers, body }, { method, keepsConnection, idleTimeoutMs }) {
    const length = method === "OPTIONS" ? 0 : body.length;
    const lines = [`HTTP/1.1 ${status} ${phrase}`];
    for (let at = 0; at + 1 < headers.length; at += 2)
        lines.push(`${headers[at]}: ${headers[at + 1]}`);
    lines.push(`Content-Length: ${length}`);
    lines.push(keepsConnection
        ? `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleTimeoutMs / 1_000)}`
        : "Connection: close");
    const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    return method === "HEAD" || length === 0 ? head : Buffer.concat([head, body]);
}
/** What node:http sends on a connection whose first request did not come in time. */
export const renderedTimeout = Buffer.from("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", "latin1");
//# sourceMappingURL=http1-serializer.js.map