/** Why a probe failed. To `GET /leader`, only 200 and 503 with a readable document are answers (rule 8). */
export const failureKinds = [
  /** The node refused the connection. */
  "refused",
  /** The connection or the whole response took too long. */
  "timeout",
  /** The connection was closed before the response was complete. */
  "reset",
  /** The TLS handshake failed, or the certificate is not trusted. */
  "tls",
  /** The node speaks TLS, but its address begins with `http://`. */
  "https",
  /** An HTTP status that is no answer to the request. */
  "status",
  /** The response is not HTTP, or its body is not what was expected. Also any unknown error. */
  "body",
  /** The headers or the body are longer than the limit. */
  "too_large",
  /** There is no route to the host, or its name cannot be resolved. */
  "unreachable",
  /** This machine had no file descriptor, port or memory for the request. This says nothing about the node. */
  "not_sent",
  /** No answer was seen in time, but this process was busy and looked too late. This says nothing about the node. */
  "late_here",
] as const;

export type FailureKind = (typeof failureKinds)[number];

/** Whether a failure is rolecall's own, and says nothing about the node (rule 8). */
export function isOwnFailure({ kind }: Failure): boolean {
  return kind === "not_sent" || kind === "late_here";
}

/** A failed probe. Failures of nodes are values, not exceptions. */
export interface Failure {
  readonly kind: FailureKind;
  /** Details for people. */
  readonly detail: string;
}
