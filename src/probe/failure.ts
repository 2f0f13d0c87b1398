import type { Failure, FailureKind } from "../cluster/observation.ts";

/** System and client error codes by what they mean for a probe. */
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
]);

/** Names what went wrong in an asking. An error nobody foresaw is an answer that could not be read. */
export function failureOf(error: Error): Failure {
  // A name with several addresses fails with all their errors at once; the first speaks for them.
  const cause = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return {
    kind: kinds.get(code) ?? (isTls(code) ? "tls" : "body"),
    detail: `${code === "" ? cause.name : code}: ${cause.message}`.slice(0, 200),
  };
}

/** TLS errors come as OpenSSL codes or as verification results such as `CERT_HAS_EXPIRED`. */
function isTls(code: string): boolean {
  return /^ERR_(SSL|TLS)_|CERT|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code);
}
