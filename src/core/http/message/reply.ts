import { escapeUnsafe } from "../../cluster/values/unsafe-text.ts";
import type { Refusal } from "../../health/calls/refusal.ts";
import type { ParseError } from "../../health/check.ts";

/** A response to write. */
export interface Reply {
  readonly status: number;
  readonly phrase: string;
  /** Name, value, name, value, … without Content-Length, which follows from the body. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** A long body, sent piece by piece as the client reads it, instead of `body`. */
  readonly pieces?: readonly Buffer[];
  /** Whether OPTIONS gets the body too. An exporter sends it, a node does not. */
  readonly hasOptionsBody?: boolean;
  /** The reply prepared for one method, so that a cached reply is not prepared again for each request. */
  readonly wire?: PreparedWire;
}

/** What `writeReply` passes to node:http for one method. */
export interface PreparedWire {
  readonly method: string;
  /** All headers, Content-Length included; node:http does not modify the array. */
  readonly headers: string[];
  /**
   * The body with one character per byte (latin1): node:http sends head and body in one write if the body is a string.
   */
  readonly text: string;
}

/** Prepares a reply that is sent many times. `pieces` are not supported. */
export function prepareReply(reply: Reply, method: string): Reply {
  const body = method === "OPTIONS" && reply.hasOptionsBody !== true ? Buffer.alloc(0) : reply.body;
  const headers = [...reply.headers, "Content-Length", String(body.length)];
  return { ...reply, wire: { method, headers, text: method === "HEAD" ? "" : body.toString("latin1") } };
}

interface ReplyStatus {
  readonly code: number;
  readonly phrase: string;
}

const json: readonly string[] = ["Cache-Control", "no-store", "Content-Type", "application/json"];

/** Returns a reply without a body. `headers` are added to those of every reply (docs/checks.md). */
export function emptyReply(status: ReplyStatus, headers: readonly string[] = []): Reply {
  return {
    status: status.code,
    phrase: printable(status.phrase),
    headers: ["Cache-Control", "no-store", ...headers],
    body: Buffer.alloc(0),
  };
}

/**
 * Returns a JSON reply. `headers` are added to those of every reply (docs/checks.md). What could control a terminal, or
 * disguise what it shows, is escaped in the body.
 */
export function jsonReply(status: ReplyStatus, body: string, headers: readonly string[] = []): Reply {
  return documentReply(status, escapeUnsafe(body), headers);
}

/** Returns a JSON reply whose body is what a node has said, as it said it. */
export function documentReply(status: ReplyStatus, body: string, headers: readonly string[] = []): Reply {
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
export function badRequest({ subject, value, allowed: all }: ParseError): Reply {
  const allowed = all.length > allowedMax ? `${all.slice(0, allowedMax)}…` : all;
  const shown = value.length > 200 ? `${value.slice(0, 200)}…` : value;
  const message = `Cannot read ${subject}: it must be ${allowed}, got ${JSON.stringify(shown)}`;
  const body = JSON.stringify({ error: "bad_request", thing: subject, value: shown, allowed, message });
  return jsonReply({ code: 400, phrase: `bad_request ${subject}` }, body, ["X-Rolecall-Reason", "bad_request"]);
}

/** Says that a query has a parameter that is none of those known; `null` if it has none. */
export function unknownParameter(query: URLSearchParams, known: readonly string[]): ParseError | null {
  const value = [...query.keys()].find((name) => !known.includes(name));
  if (value === undefined) return null;
  const allowed = known.length === 1 ? `the parameter ${known[0]}` : `one of the parameters ${known.join(", ")}`;
  return { subject: "query", value, allowed };
}

/** Returns a JSON error: a code for programs and a sentence for people. */
export function errorReply(
  code: number,
  error: string,
  rest: { readonly message: string; readonly headers?: readonly string[] },
): Reply {
  return jsonReply({ code, phrase: error }, JSON.stringify({ error, message: rest.message }), rest.headers ?? []);
}

/** A refusal as a JSON error. */
export function refusalReply({ status, error, message }: Refusal): Reply {
  return errorReply(status, error, { message });
}

/** The code of an error reply, as `bad_request`: the first word of its phrase. */
export function reasonOf({ phrase }: Reply): string {
  const [reason = ""] = phrase.split(" ");
  return reason;
}

/**
 * Returns the 405 reply for a method that a path does not have.
 * @param allow the methods that it has, as in the Allow header
 */
export function methodNotAllowed(method: string, allow: string): Reply {
  const message = `Cannot ${method} this path: the method must be one of ${allow}`;
  return errorReply(405, "method_not_allowed", { message, headers: ["Allow", allow] });
}

/**
 * Returns text that is valid in a status line or header: printable ASCII of bounded length. Names may come from any
 * document.
 */
export function printable(text: string): string {
  return text.replace(/[^\u0020-\u007e]/g, "?").slice(0, 120);
}
