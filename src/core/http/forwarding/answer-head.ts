import { type IncomingMessage, validateHeaderName, validateHeaderValue } from "node:http";
import { endToEnd } from "./headers.ts";

/** The head of an answer, as it is passed on. */
export interface AnswerHead {
  readonly status: number;
  readonly phrase: string;
  readonly headers: readonly (readonly [name: string, value: string | string[]])[];
}

/** What is allowed in an answer's head. */
export interface HeadRules {
  /** The client's Host header: a `Location` may point to it. */
  readonly host: string | undefined;
  /** Whether the answer is from rolecall's main process, not from a node: then only hop-by-hop headers are removed. */
  readonly isFromMainProcess: boolean;
  /** The longest body that is passed on, in bytes. */
  readonly answerMax: number;
}

/** Tab, visible characters and obs-text (RFC 9112, section 4). */
const phraseAllowed = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * Headers that apply to the whole origin, not to one answer: for the client, the origin is rolecall, not the node.
 * `Server` would disclose the node's software; rolecall sets `X-Request-Id` itself.
 */
const originHeaders: ReadonlySet<string> = new Set([
  "alt-svc",
  "clear-site-data",
  "content-disposition",
  "content-security-policy",
  "content-security-policy-report-only",
  "link",
  "nel",
  "refresh",
  "report-to",
  "reporting-endpoints",
  "server",
  "service-worker-allowed",
  "set-cookie",
  "set-cookie2",
  "speculation-rules",
  "strict-transport-security",
  "x-content-type-options",
  "x-request-id",
]);

/**
 * The content types that are passed on: what node APIs and exporters send for programs, and nothing that a browser
 * executes. An answer of any other type is passed on as plain text.
 */
const contentTypeAllowed =
  /^(text\/plain|application\/(json|openmetrics-text|vnd\.google\.protobuf|octet-stream))(; ?(charset|version|escaping|proto|encoding)=[\w.-]+)*$/i;
const plainText = "text/plain; charset=utf-8";

/**
 * Keep a browser from running what a node sends: the client's origin is rolecall, whose APIs accept the operator's
 * login (Content Security Policy Level 3, "sandbox"; Fetch standard, "X-Content-Type-Options").
 */
const inertHeaders: AnswerHead["headers"] = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "sandbox; default-src 'none'"],
];

/**
 * Validates the head of an answer before any of it is passed on. An answer that cannot be passed on unchanged is
 * refused.
 * @returns the head without the headers that only rolecall may set; or what is wrong with it
 */
export function readAnswerHead(answer: IncomingMessage, rules: HeadRules): AnswerHead | { readonly problem: string } {
  const { statusCode: status = 0, statusMessage: phrase = "", headers } = answer;
  const problem = problemOf(answer, rules);
  if (problem !== null) return { problem };
  const received = endToEnd(headers);
  const kept = rules.isFromMainProcess ? received : inert(received, { status, host: rules.host });
  const length = headers["content-length"];
  // A 204 has no body and no Content-Length (RFC 9110, 8.6).
  return {
    status,
    phrase,
    headers: length === undefined || status === 204 ? kept : [...kept, ["content-length", length]],
  };
}

function problemOf(
  { statusCode = 0, statusMessage = "", headers }: IncomingMessage,
  { answerMax }: HeadRules,
): string | null {
  if (statusCode < 200 || statusCode > 599) return `status ${String(statusCode).padStart(3, "0")}`;
  if (!phraseAllowed.test(statusMessage)) return "control characters in its status line";
  const { trailer, "content-length": length, "transfer-encoding": coding } = headers;
  if (trailer !== undefined && length !== undefined) return "both a Trailer and a Content-Length";
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") return "a transfer coding that is not chunked";
  if (Number(length ?? 0) > answerMax) return `a body of more than ${answerMax} bytes`;
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      for (const each of [value].flat()) validateHeaderValue(name, each ?? "");
    }
    return null;
  } catch {
    return "a header that cannot be sent";
  }
}

/** What decides whether a node may send a header. */
interface AnswerContext {
  readonly status: number;
  readonly host: string | undefined;
}

/** The headers that a node may send to rolecall's client, and those that make its answer inert in a browser. */
function inert(received: AnswerHead["headers"], context: AnswerContext): AnswerHead["headers"] {
  const kept = received.filter(([name, value]) => name !== "content-type" && isAllowed(name, value, context));
  const type = received.find(([name]) => name === "content-type")?.[1];
  const isAllowedType = typeof type === "string" && contentTypeAllowed.test(type);
  return [...kept, ["content-type", isAllowedType ? type : plainText], ...inertHeaders];
}

/** Whether a node may send a header to rolecall's client. */
function isAllowed(name: string, value: string | string[], { status, host }: AnswerContext): boolean {
  if (originHeaders.has(name) || name.startsWith("x-rolecall-") || name.startsWith("access-control-")) return false;
  if (name === "www-authenticate") return status === 401;
  return name !== "location" || [value].flat().every((location) => isSameHost(location, host));
}

/** Whether a location is relative, or on the client's Host. */
function isSameHost(location: string, host: string | undefined): boolean {
  const hostFrom = (base: string): string | null =>
    URL.canParse(location, base) ? new URL(location, base).host : null;
  // A relative location resolves to whatever base it is given.
  const [one, other] = [hostFrom("http://one.invalid"), hostFrom("http://other.invalid")];
  if (one === "one.invalid" && other === "other.invalid") return true;
  if (host === undefined || !/^https?:/i.test(location) || !URL.canParse(location)) return false;
  const { protocol, host: named } = new URL(location);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === named;
}
