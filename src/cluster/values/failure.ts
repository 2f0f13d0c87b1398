/** Why a probe failed. Only 200 and 503 with a readable document are answers (rule 8). */
export const failureKinds = [
  "refused",
  "timeout",
  "reset",
  "tls",
  "https",
  "status",
  "body",
  "too_large",
  "unreachable",
  "not_sent",
] as const;

export type FailureKind = (typeof failureKinds)[number];

/** A failed probe. Failures of nodes are values, not exceptions. */
export interface Failure {
  /**
   * `not_sent`: this machine had no file descriptor, port or memory for the request, which says nothing about the node.
   */
  readonly kind: FailureKind;
  /** Details for people. */
  readonly detail: string;
}
