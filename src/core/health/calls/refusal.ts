/** Why a call is not forwarded. */
export interface Refusal {
  /** The HTTP status of the answer. If a node refuses such a call too, it is the node's status for it. */
  readonly status: number;
  /** A code for programs, as `leader_mismatch`. */
  readonly error: string;
  /** A sentence for people. */
  readonly message: string;
}

/** Why a part of rolecall that could not be opened, or is not open yet, takes no call. @param what a verb with its object */
export function refuseUnopened(what: string): Refusal {
  const message = `Cannot ${what}: this part of rolecall must be open; rolecall status says whether it failed`;
  return { status: 503, error: "not_open", message };
}
