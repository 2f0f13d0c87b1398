/** Why a probe brought no answer. Only 200 and 503 with a readable document are answers (design.md, rule 8). */
export type FailureKind = "refused" | "timeout" | "reset" | "tls" | "status" | "body" | "too_large" | "unreachable";

/** A failed probe: the world being down is a value, not an exception. */
export interface Failure {
  readonly kind: FailureKind;
  /** What was seen, for people. */
  readonly detail: string;
}
