import { withoutUnsafe } from "../../core/cluster/values/unsafe-text.ts";
import { ConsoleError } from "../../core/balancing/pgbouncer/console-error.ts";
import { type CanaryError, ownCodes } from "./core/canary.ts";

/** The longest message that is kept of a server, in characters. */
const messageMax = 200;

/** A failure that rolecall itself has words for. */
export class CanaryFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "CanaryFailure";
    this.code = code;
  }
}

/** The commonest errors of the system in plain words. The address is beside them wherever they are shown. */
const words: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connection refused"],
  ["ECONNRESET", "connection reset"],
  ["EPIPE", "connection reset"],
  ["ETIMEDOUT", "no connection: nothing answers"],
  ["EHOSTUNREACH", "no route to the host"],
  ["ENETUNREACH", "network unreachable"],
  ["ENOTFOUND", "host name not found"],
  ["EAI_AGAIN", "name server does not answer"],
  ["ENOENT", "the socket does not exist"],
  ["EACCES", "the permissions of the socket do not let rolecall use it"],
]);

/** What this machine itself lacks: descriptors, local ports, buffers or memory. */
const ownFailures: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
  "EAI_MEMORY",
  "EADDRNOTAVAIL",
  "EADDRINUSE",
  "EAGAIN",
]);

/** Describes what ended a try. @returns `null` if this machine itself has failed */
export function errorOf(thrown: unknown): CanaryError | null {
  const error = oneOf(thrown);
  if (error instanceof CanaryFailure) return { code: error.code, message: cut(error.message) };
  if (error instanceof ConsoleError) return { code: codeOfKind(error), message: cut(error.message) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (ownFailures.has(code)) return null;
  const known = words.get(code);
  if (known !== undefined) return { code, message: known };
  // A SQLSTATE, or a code of TLS. A server may send anything.
  if (/^[0-9A-Z_]{1,60}$/.test(code)) return { code, message: cut(error.message) };
  return /terminated unexpectedly|not queryable/.test(error.message)
    ? { code: ownCodes.closed, message: "the connection was closed" }
    : { code: ownCodes.protocol, message: cut(error.message) };
}

/** Of a host with several addresses, the error of the first. */
function oneOf(thrown: unknown): Error {
  const [first]: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown];
  return first instanceof Error ? first : new Error(String(first));
}

function codeOfKind({ kind }: ConsoleError): string {
  if (kind === "refused") return ownCodes.clearPassword;
  return kind === "lost" ? ownCodes.closed : ownCodes.protocol;
}

function cut(text: string): string {
  return withoutUnsafe(text.slice(0, messageMax));
}
