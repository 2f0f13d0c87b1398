import { safeMethods, type Request } from "./request.ts";
import { targetMax } from "./request-target.ts";

/** A request that the fast lane may answer, and what becomes of its connection. */
export interface SimpleRequest {
  readonly request: Request;
  readonly keepsConnection: boolean;
}

/** Longer heads are not simple. */
export const simpleHeadMax = 4_096;

/**
 * The grammar of the fast lane: a narrow part of RFC 9112 in which nothing can be read in two ways.
 *
 *     simple  = method SP target SP "HTTP/1." ("0" / "1") CRLF *header CRLF     ; and then the chunk ends
 *     method  = "GET" / "HEAD" / "OPTIONS"
 *     target  = "/" *( ALPHA / DIGIT / one of -._~%!$&'()*+,;=:@/? )            ; at most 2,048 characters
 *     header  = 1*tchar ":" *( HTAB / SP / %x21-7E ) CRLF                       ; no folding, no bare CR or LF
 *
 * Beyond the grammar: none of the headers in `unsimple`, none of those in `single` twice, and Connection, if there, is
 * `close` or `keep-alive`. Everything else is for node:http to read, or to refuse.
 */
const grammar =
  /^(GET|HEAD|OPTIONS) (\/[\w\-.~%!$&'()*+,;=:@/?]*) HTTP\/1\.([01])\r\n((?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e]*\r\n)*)\r\n$/;

/** Headers that announce a body, change the protocol or want more than a look-up. */
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

/** Headers whose second occurrence would be a matter of interpretation. */
const single: readonly string[] = ["connection", "host", "x-rolecall-node", "x-haproxy-server-state"];

/**
 * Reads a chunk that may be one simple request.
 * @param text the chunk's bytes as latin1
 * @returns `null` where it is anything else: partial, pipelined, unusual or wrong
 */
export function readSimpleRequest(text: string): SimpleRequest | null {
  const [, method = "", target = "", minor = "", head = ""] = grammar.exec(text) ?? [];
  if (!safeMethods.includes(method) || target.length > targetMax) return null;
  const known = readHeaders(head);
  if (known === null) return null;
  const connection = known.get("connection")?.toLowerCase();
  if (connection !== undefined && connection !== "close" && connection !== "keep-alive") return null;
  const request: Request = {
    method,
    target,
    host: known.get("host"),
    nodeHeader: known.get("x-rolecall-node"),
    serverState: known.get("x-haproxy-server-state"),
  };
  return { request, keepsConnection: minor === "1" ? connection !== "close" : connection === "keep-alive" };
}

/** The headers that decide something; `null` where one is there that is not simple. */
function readHeaders(head: string): ReadonlyMap<string, string> | null {
  const known = new Map<string, string>();
  for (const line of head.split("\r\n")) {
    const cut = line.indexOf(":");
    const name = line.slice(0, Math.max(0, cut)).toLowerCase();
    if (unsimple.has(name)) return null;
    if (!single.includes(name)) continue;
    if (known.has(name)) return null;
    known.set(name, line.slice(cut + 1).replace(/^[\t ]+|[\t ]+$/g, ""));
  }
  return known;
}
