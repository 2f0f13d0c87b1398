/** Why a probe brought no answer. Only 200 and 503 with a readable document are answers (design.md, rule 8). */
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

/** A failed probe: the world being down is a value, not an exception. */
export interface Failure {
  /** `not_sent`: this machine had no descriptor, port or memory for the request. It says nothing about the node. */
  readonly kind: FailureKind;
  /** What was seen, for people. */
  readonly detail: string;
}
