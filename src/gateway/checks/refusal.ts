/** Why a call is not forwarded: the status that a node's API would answer, if it has one for this, and a sentence. */
export interface Refusal {
  readonly status: number;
  /** A code for programs, as `leader_mismatch`. */
  readonly error: string;
  readonly message: string;
}
