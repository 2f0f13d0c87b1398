import type { Reason } from "./reason.ts";

/** The answer to a check of one node: fit, or unfit for exactly one reason. */
export type Verdict = Fit | Unfit;

export interface Fit {
  readonly fit: true;
  /** A yes that was only given to keep the pool from running empty, or from evidence that is not the node's own. */
  readonly isDegraded: boolean;
}

export interface Unfit {
  readonly fit: false;
  readonly reason: Reason;
  /** The figure behind the reason, as `12MB`; for the status line's phrase. */
  readonly figure: string | null;
}

export const fit: Fit = { fit: true, isDegraded: false };

export const degraded: Fit = { fit: true, isDegraded: true };

export function unfit(reason: Reason, figure: string | null = null): Unfit {
  return { fit: false, reason, figure };
}
