/** Why a call is not passed on: a status of the nodes' own API where it has one for this, and a sentence. */
export interface Refusal {
  readonly status: number;
  /** One word for machines, as `leader_mismatch`. */
  readonly error: string;
  readonly message: string;
}
