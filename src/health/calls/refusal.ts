/** Why a call is not forwarded. */
export interface Refusal {
  /** The HTTP status of the answer. If a node refuses such a call too, it is the node's status for it. */
  readonly status: number;
  /** A code for programs, as `leader_mismatch`. */
  readonly error: string;
  /** A sentence for people. */
  readonly message: string;
}
