/** Why a call is not forwarded. */
export interface Refusal {
  /** The status that a node would answer, where a node has such an answer. */
  readonly status: number;
  /** A code for programs, as `leader_mismatch`. */
  readonly error: string;
  /** A sentence for people. */
  readonly message: string;
}
