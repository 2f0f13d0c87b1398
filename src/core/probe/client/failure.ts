import type { Failure, FailureKind } from "../../cluster/observation.ts";
import { tlsTroubleText } from "../../cluster/values/tls-trouble.ts";

/** What system and client error codes mean for a probe. */
const kinds: ReadonlyMap<string, FailureKind> = new Map<string, FailureKind>([
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["EPIPE", "reset"],
  ["UND_ERR_SOCKET", "reset"],
  ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
  ["ETIMEDOUT", "timeout"],
  ["EHOSTUNREACH", "unreachable"],
  ["ENETUNREACH", "unreachable"],
  ["ENOTFOUND", "unreachable"],
  ["EAI_AGAIN", "unreachable"],
  ["UND_ERR_HEADERS_OVERFLOW", "too_large"],
  // This machine lacks descriptors, local ports, buffers or memory.
  ["EMFILE", "not_sent"],
  ["ENFILE", "not_sent"],
  ["ENOBUFS", "not_sent"],
  ["ENOMEM", "not_sent"],
  ["EAI_MEMORY", "not_sent"],
  ["EADDRNOTAVAIL", "not_sent"],
  ["EADDRINUSE", "not_sent"],
  ["EAGAIN", "not_sent"],
]);

/** The commonest errors in plain words. The node's address is beside them wherever they are shown. */
const words: ReadonlyMap<string, (message: string) => string> = new Map([
  ["ECONNREFUSED", () => "connection refused"],
  ["ECONNRESET", () => "connection reset by the node"],
  ["EPIPE", () => "connection reset by the node"],
  ["UND_ERR_SOCKET", () => "connection closed by the node before its answer"],
  ["UND_ERR_DESTROYED", () => "the connection was given up meanwhile"],
  ["UND_ERR_CONNECT_TIMEOUT", connectTimeoutText],
  ["ETIMEDOUT", () => "no connection: the node does not answer"],
  ["EHOSTUNREACH", () => "no route to the host"],
  ["ENETUNREACH", () => "network unreachable"],
  ["ENOTFOUND", (message) => `host name not found${hostOf(message)}`],
  ["EAI_AGAIN", (message) => `name server does not answer${hostOf(message)}`],
]);

/** Classifies the error of a request. An unknown error counts as an unreadable response (`body`). */
export function failureOf(thrown: unknown): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  // If a host has several addresses, the error is an AggregateError. We report the first error that this machine did
  // not cause.
  const causes = error instanceof AggregateError ? error.errors.filter((one) => one instanceof Error) : [error];
  const cause = causes.find((one) => kinds.get(codeOf(one)) !== "not_sent") ?? causes[0] ?? error;
  const code = codeOf(cause);
  return {
    kind: kinds.get(code) ?? (isTls(code) ? "tls" : "body"),
    detail: detailOf(code, cause).slice(0, 200),
  };
}

function detailOf(code: string, { name, message }: Error): string {
  const said = words.get(code)?.(message);
  if (said !== undefined) return said;
  const trouble = tlsTroubleText(code);
  // OpenSSL has no words for an alert but its code.
  if (trouble !== null) return `${trouble} (${code.startsWith("ERR_SSL_") ? code : message})`;
  return `${code === "" ? name : code}: ${message}`;
}

/** From `Connect Timeout Error (attempted address: 10.0.0.1:8008, timeout: 500ms)` (undici 7). */
function connectTimeoutText(message: string): string {
  const [, ms] = /timeout: (\d{1,9})ms/.exec(message) ?? [];
  return ms === undefined ? "no connection in time" : `no connection within ${ms} ms`;
}

/** From `getaddrinfo ENOTFOUND pg1.example.com`. */
function hostOf(message: string): string {
  const [, host] = /^getaddrinfo \S+ (\S+)$/.exec(message) ?? [];
  return host === undefined ? "" : `: ${host}`;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** TLS errors come as OpenSSL codes or as verification results such as `CERT_HAS_EXPIRED`. */
function isTls(code: string): boolean {
  return /^ERR_(SSL|TLS)_|CERT|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code);
}
