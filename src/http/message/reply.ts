import type { ParseError } from "../../health/check.ts";

/** An answer, ready to be written. */
export interface Reply {
  readonly status: number;
  readonly phrase: string;
  /** Name, value, name, value: without Content-Length, which follows from the body. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** A long body, written piece by piece as the asker takes it, in place of `body`. */
  readonly pieces?: readonly Buffer[];
  /** Whether OPTIONS gets the body too, as from an exporter; from a node it gets none. */
  readonly hasOptionsBody?: boolean;
}

const json: readonly string[] = ["Cache-Control", "no-store", "Content-Type", "application/json"];

/** A JSON answer; `headers` come beside those that every answer has (design.md, "The node dialect"). */
export function jsonReply(
  status: { readonly code: number; readonly phrase: string },
  body: string,
  headers: readonly string[] = [],
): Reply {
  return {
    status: status.code,
    phrase: printable(status.phrase),
    headers: [...json, ...headers],
    body: Buffer.from(body),
  };
}

/** A list of all nodes is cut, or a few bytes could ask for megabytes. In characters. */
const allowedMax = 2_000;

/** Says what was not understood: the thing, its value and what is allowed. */
export function badRequest({ subject, value, allowed: all }: ParseError): Reply {
  const allowed = all.length > allowedMax ? `${all.slice(0, allowedMax)}…` : all;
  const shown = value.length > 200 ? `${value.slice(0, 200)}…` : value;
  const message = `Cannot read ${subject} as it must be ${allowed}: it is ${JSON.stringify(shown)}`;
  const body = JSON.stringify({ error: "bad_request", thing: subject, value: shown, allowed, message });
  return jsonReply({ code: 400, phrase: `bad_request ${subject}` }, body, ["X-Rolecall-Reason", "bad_request"]);
}

/** A short JSON error with a sentence for people. */
export function errorReply(
  code: number,
  error: string,
  rest: { readonly message: string; readonly headers?: readonly string[] },
): Reply {
  return jsonReply({ code, phrase: error }, JSON.stringify({ error, message: rest.message }), rest.headers ?? []);
}

/** What may stand in a status line or a header: visible ASCII, of bounded length. Names come from documents that others wrote. */
export function printable(text: string): string {
  return text.replace(/[^\u0020-\u007e]/g, "?").slice(0, 120);
}
