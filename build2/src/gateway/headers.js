import { randomUUID } from "node:crypto";
/**
 * Hop-by-hop headers (RFC 9110, 7.6.1), and those that the forwarding request sets or handles itself: Content-Length,
 * Expect.
 */
export const notForwarded = new Set([
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "content-length",
]);
/**
 * Headers that rolecall consumes, or writes again for a node. A browser's cookies belong to rolecall's host or to
 * another service there, never to a node, which uses none.
 */
const replaced = new Set([
    "host",
    "cookie",
    "cookie2",
    "x-rolecall-node",
    "x-forwarded-for",
    "x-request-id",
]);
/**
 * Returns the headers for a node: the client's end-to-end headers, and those that rolecall sets: Host, Content-Length,
 * X-Forwarded-For and X-Request-Id.
 */
export function headersFor({ received, caller, requestId, host, hasAuth, length }) {
    const dropsAuthorization = caller.consumesAuthorization || hasAuth;
    const kept = endToEnd(received).filter(([name]) => !replaced.has(name) && !(name === "authorization" && dropsAuthorization));
    const before = received["x-forwarded-for"];
    return {
        ...Object.fromEntries(kept),
        host,
        ...(length === null ? {} : { "content-length": String(length) }),
        "x-forwarded-for": [...(before === undefined ? [] : [before].flat()), caller.address].join(", "),
        "x-request-id": requestId,
    };
}
/** Returns the end-to-end headers: without hop-by-hop headers and those that Connection names. */
export function endToEnd(received) {
    const namedByConnection = (received.connection ?? "")
        .toLowerCase()
        .split(",")
        .map((name) => name.trim());
    return Object.entries(received).flatMap(([name, value]) => value === undefined || notForwarded.has(name) || namedByConnection.includes(name) ? [] : [[name, value]]);
}
/** Returns the client's request id if it is valid in headers and logs; otherwise a new one. */
export function requestIdOf(received) {
    const given = received["x-request-id"];
    return typeof given === "string" && /^[\w.:@/+=-]{1,128}$/.test(given) ? given : randomUUID();
}
//# sourceMappingURL=headers.js.map