import { readSimpleRequest, simpleHeadMax } from "../message/simple-request-parser.ts";
import type { RejectionReason } from "./rejection.ts";

/** What becomes of a connection, by the bytes that it begins with. */
export type FirstBytes =
  /** More bytes are needed to decide. */
  | { readonly kind: "more" }
  /** node:http reads the connection. `bytes`: what it reads in place of what came; `null`: what came. */
  | { readonly kind: "http"; readonly bytes: Buffer | null }
  | { readonly kind: "tls" }
  | { readonly kind: "rejected"; readonly reason: RejectionReason };

const more: FirstBytes = { kind: "more" };
const http: FirstBytes = { kind: "http", bytes: null };

/** The codes of PostgreSQL's first messages: protocol 3, CancelRequest, SSLRequest, GSSENCRequest. */
const postgresqlCodes: ReadonlySet<number> = new Set([196_608, 80_877_102, 80_877_103, 80_877_104]);
const http2Preface = "PRI * HTTP/2.0\r\n";

/**
 * Decides on the first bytes of a plain connection, or of those inside TLS. Only what node:http would refuse without a
 * word, or read otherwise than nodes do, is decided here. Everything else goes to node:http.
 */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return more;
  if (isTlsHello(bytes)) return { kind: "tls" };
  if (bytes[0] === 0 && bytes.length < 8) return more;
  if (isPostgresql(bytes)) return rejected("postgresql");
  const text = bytes.toString("latin1", 0, simpleHeadMax + 1);
  const start = text.search(/[^\r\n]/); // empty lines before a request are ignored (RFC 9112, 2.2)
  if (start < 0) return bytes.length > simpleHeadMax ? http : more;
  if (!/^[\t\x20-\x7e]/.test(text.slice(start))) return rejected("not_http");
  const end = text.indexOf("\n", start);
  if (end < 0) return text.length > simpleHeadMax ? http : isText(text.slice(start));
  const line = text.slice(start, end).replace(/\r$/, "");
  return readRequestLine(line) ?? readLineEnds(text.slice(start), line);
}

function isTlsHello(bytes: Buffer): boolean {
  return bytes[0] === 0x16 && (bytes.length === 1 || bytes[1] === 3);
}

/** A first message of PostgreSQL: its length, then one of a few codes. */
function isPostgresql(bytes: Buffer): boolean {
  return bytes.length >= 8 && bytes[0] === 0 && postgresqlCodes.has(bytes.readUInt32BE(4));
}

/** A line that is not complete is waited for if it may become a request line. */
function isText(line: string): FirstBytes {
  return /^[\t\x20-\x7e\x80-\xff]*\r?$/.test(line) ? more : rejected("not_http");
}

function rejected(reason: RejectionReason): FirstBytes {
  return { kind: "rejected", reason };
}

/** @returns `null` for a request line that node:http can read */
function readRequestLine(line: string): FirstBytes | null {
  if (`${line}\r\n` === http2Preface) return rejected("http2");
  const [, method = "", target = "", version] =
    /^([\w!#$%&'*+\-.^`|~]+) (\S+)(?: HTTP\/(\d+\.\d+)[\t ]*)?$/.exec(line) ?? [];
  if (method === "") return /^\S+ .*HTTP\/\d/.test(line) ? null : rejected("not_http");
  if (version === undefined) return method === "GET" && isTarget(method, target) ? null : rejected("not_http");
  if (!/^1\.\d{1,3}$/.test(version)) return rejected("http_version");
  return isTarget(method, target) ? null : rejected("path_without_slash");
}

/** Origin form, absolute form, or the forms of CONNECT and OPTIONS (RFC 9112, 3.2). */
function isTarget(method: string, target: string): boolean {
  return target.startsWith("/") || /^[a-z][a-z\d+.-]*:\/\//i.test(target) || target === "*" || method === "CONNECT";
}

/**
 * Accepts what nodes accept and node:http does not: lines that end with LF alone, blanks after the version, and a minor
 * version above 1, which is read as HTTP/1.1 (RFC 9112, 2.2, 2.3 and 3; RFC 9110, 6.2). The head is rewritten with CRLF, and the connection ends
 * with the answer, so that nobody can disagree on where a next request begins. It must be a simple request, with no
 * header that announces a body.
 */
function readLineEnds(text: string, line: string): FirstBytes {
  const isOddVersion = / HTTP\/1\.\d+[\t ]*$/.test(line) && !/ HTTP\/1\.[01]$/.test(line);
  const end = /\n\r?\n/.exec(text);
  const head = end === null ? text : text.slice(0, end.index + 1);
  if (!isOddVersion && !/(?<!\r)\n/.test(head)) return http;
  if (end === null) return text.length > simpleHeadMax ? rejected("line_feeds") : more;
  const [first = "", ...headers] = head.split(/\r?\n/).slice(0, -1);
  const kept = headers.filter((header) => !/^connection:/i.test(header));
  const request = [
    first.replace(/ HTTP\/1\.(\d+)[\t ]*$/, (_, minor) => ` HTTP/1.${minor === "0" ? "0" : "1"}`),
    ...kept,
    "Connection: close",
    "",
    "",
  ];
  // A credential does not change where a request ends.
  const plain = request.filter((header) => !/^authorization:/i.test(header)).join("\r\n");
  if (readSimpleRequest(plain) === null) return rejected(isOddVersion ? "http_version" : "line_feeds");
  return { kind: "http", bytes: Buffer.from(request.join("\r\n"), "latin1") };
}
