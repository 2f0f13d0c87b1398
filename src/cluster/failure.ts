/** Why a probe brought no answer. Only 200 and 503 with a readable document are answers (design.md, rule 8). */
export const failureKinds = ["refused", "timeout", "reset", "tls", "https", "status", "body", "too_large", "unreachable"] as const;

export type FailureKind = (typeof failureKinds)[number];

/** A failed probe: the world being down is a value, not an exception. */
export interface Failure {
  readonly kind: FailureKind;
  /** What was seen, for people. */
  readonly detail: string;
}
