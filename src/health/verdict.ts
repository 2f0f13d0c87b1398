import type { Reason } from "./reason.ts";

/** The answer to a check of one node: fit, or unfit for exactly one reason. */
export type Verdict = Fit | Unfit;

export interface Fit {
  readonly fit: true;
  /** The yes only keeps the pool from running empty, or relies on evidence other than the node's own. */
  readonly isDegraded: boolean;
}

export interface Unfit {
  readonly fit: false;
  readonly reason: Reason;
  /** The figure behind the reason, such as `12MB`, for the status line's phrase; `null` if there is none. */
  readonly figure: string | null;
}

export const fit: Fit = { fit: true, isDegraded: false };

export const degraded: Fit = { fit: true, isDegraded: true };

export function unfit(reason: Reason, figure: string | null = null): Unfit {
  return { fit: false, reason, figure };
}
