import { validateHeaderName, validateHeaderValue } from "node:http";
import { endToEnd } from "./headers.js";
/** Tab, visible characters and obs-text (RFC 9112, section 4). */
const phraseAllowed = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
/**
 * Headers that apply to the whole origin, not to one answer: for the client, the origin is rolecall, not the node.
 * `Server` would disclose the node's software; rolecall sets `X-Request-Id` itself.
 */
const originHeaders = new Set([
    "alt-svc",
    "clear-site-data",
    "refresh",
    "server",
    "service-worker-allowed",
    "set-cookie",
    "set-cookie2",
    "strict-transport-security",
    "x-request-id",
]);
/**
 * Validates the head of an answer before any of it is passed on. An answer that cannot be passed on unchanged is
 * refused.
 * @returns the head without the headers that only rolecall may set; or what is wrong with it
 */
export function readAnswerHead(answer, rules) {
    const { statusCode: status = 0, statusMessage: phrase = "", headers } = answer;
    const problem = problemOf(answer, rules);
    if (problem !== null)
        return { problem };
    const kept = endToEnd(headers).filter(([name, value]) => rules.isFromMainProcess || isAllowed(name, value, { status, host: rules.host }));
    const length = headers["content-length"];
    // A 204 has no body and no Content-Length (RFC 9110, 8.6).
    return {
        status,
        phrase,
        headers: length === undefined || status === 204 ? kept : [...kept, ["content-length", length]],
    };
}
function problemOf({ statusCode = 0, statusMessage = "", headers }, { answerMax }) {
    if (statusCode < 200 || statusCode > 599)
        return `status ${String(statusCode).padStart(3, "0")}`;
    if (!phraseAllowed.test(statusMessage))
        return "control characters in its status line";
    const { trailer, "content-length": length, "transfer-encoding": coding } = headers;
    if (trailer !== undefined && length !== undefined)
        return "both a Trailer and a Content-Length";
    if (coding !== undefined && coding.trim().toLowerCase() !== "chunked")
        return "a transfer coding that is not chunked";
    if (Number(length ?? 0) > answerMax)
        return `a body of more than ${answerMax} bytes`;
    try {
        for (const [name, value] of Object.entries(headers)) {
            validateHeaderName(name);
            for (const each of [value].flat())
                validateHeaderValue(name, each ?? "");
        }
        return null;
    }
    catch {
        return "a header that cannot be sent";
    }
}
/** Whether a node may send a header to rolecall's client. */
function isAllowed(name, value, { status, host }) {
    if (originHeaders.has(name) || name.startsWith("x-rolecall-") || name.startsWith("access-control-"))
        return false;
    if (name === "www-authenticate")
        return status === 401;
    return name !== "location" || [value].flat().every((location) => isSameHost(location, host));
}
/** Whether a location is relative, or on the client's Host. */
function isSameHost(location, host) {
    const hostFrom = (base) => URL.canParse(location, base) ? new URL(location, base).host : null;
    // A relative location resolves to whatever base it is given.
    const [one, other] = [hostFrom("http://one.invalid"), hostFrom("http://other.invalid")];
    if (one === "one.invalid" && other === "other.invalid")
        return true;
    if (host === undefined || !/^https?:/i.test(location) || !URL.canParse(location))
        return false;
    const { protocol, host: named } = new URL(location);
    const own = `${protocol}//${host}`;
    return URL.canParse(own) && new URL(own).host === named;
}
//# sourceMappingURL=answer-head.js.map