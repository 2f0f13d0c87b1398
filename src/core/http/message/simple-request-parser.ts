import { safeMethods, type Request } from "./request.ts";
import { targetMax } from "./request-target.ts";

/** A request that the fast path may answer, and whether its connection stays open afterwards. */
export interface SimpleRequest {
  readonly request: Request;
  readonly keepsConnection: boolean;
}

/** The longest simple request, in bytes. */
export const simpleHeadMax = 4_096;

/**
 * The grammar of simple requests: a narrow part of RFC 9112 that has one interpretation only.
 *
 *     simple  = method SP target SP "HTTP/1." ("0" / "1") CRLF *header CRLF     ; and then the chunk ends
 *     method  = "GET" / "HEAD" / "OPTIONS"
 *     target  = "/" *( ALPHA / DIGIT / one of -._~%!$&'()*+,;=:@/? )            ; at most 2,048 characters
 *     header  = 1*tchar ":" *( HTAB / SP / %x21-7E ) CRLF                       ; no folding, no bare CR or LF
 *
 * Beyond the grammar: no header of `unsimple`, no header of `single` twice, and Connection, if present, is `close` or
 * `keep-alive`. node:http reads or refuses everything else.
 */
const grammar =
  /^(GET|HEAD|OPTIONS) (\/[\w\-.~%!$&'()*+,;=:@/?]*) HTTP\/1\.([01])\r\n((?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e]*\r\n)*)\r\n$/;

/** Headers that announce a body, change the protocol or need more than a look-up. */
const unsimple: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "expect",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that are ambiguous if they occur twice. */
const single: readonly string[] = ["connection", "host", "x-rolecall-node", "x-haproxy-server-state"];

/**
 * Parses a chunk that may be one simple request.
 * @param text the chunk's bytes as latin1
 * @returns `null` if it is anything else: partial, pipelined, unusual or invalid
 */
export function readSimpleRequest(text: string): SimpleRequest | null {
  const [, method = "", target = "", minor = "", head = ""] = grammar.exec(text) ?? [];
  if (!safeMethods.includes(method) || target.length > targetMax) return null;
  const found = readHeaders(head);
  if (found === null) return null;
  const connection = found.get("connection")?.toLowerCase();
  if (connection !== undefined && connection !== "close" && connection !== "keep-alive") return null;
  const request: Request = {
    method,
    target,
    host: found.get("host"),
    nodeHeader: found.get("x-rolecall-node"),
    serverState: found.get("x-haproxy-server-state"),
  };
  return { request, keepsConnection: minor === "1" ? connection !== "close" : connection === "keep-alive" };
}

/** The headers that matter to a check; `null` if the request has a header that is not simple. */
function readHeaders(head: string): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  for (const line of head.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (unsimple.has(name)) return null;
    if (!single.includes(name)) continue;
    if (found.has(name)) return null;
    found.set(name, line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, ""));
  }
  return found;
}
