import type { Reason } from "./reason.ts";

/** The answer to a check of one node: fit, or unfit for exactly one reason. */
export type Verdict = Fit | Unfit;

interface Timed {
  /**
   * The instant up to which judging again gives the same verdict if no probe outcome is recorded meanwhile: ms of our
   * clock, exclusive; `Infinity` where time alone never changes it. Each rule reports it, so that nothing repeats the
   * rules.
   */
  readonly validUntilMs: number;
}

export interface Fit extends Timed {
  readonly fit: true;
  /** The yes only keeps the pool from running empty, or relies on evidence other than the node's own. */
  readonly isDegraded: boolean;
  /** The lack of evidence that a check for open sessions passes over; `null` of every other yes. */
  readonly passedOver: Unfit | null;
}

export interface Unfit extends Timed {
  readonly fit: false;
  readonly reason: Reason;
  /** The figure behind the reason, such as `12MB`, for the status line's phrase; `null` if there is none. */
  readonly figure: string | null;
  /** Whether the figure changes with time alone (an age, a lag in time): it is that of the instant of judging. */
  readonly isFigureTimed: boolean;
}

export const fit: Fit = { fit: true, isDegraded: false, passedOver: null, validUntilMs: Infinity };

export const degraded: Fit = { fit: true, isDegraded: true, passedOver: null, validUntilMs: Infinity };

/** Says yes in spite of a lack of evidence, which the answer states. */
export function passingOver(passedOver: Unfit): Fit {
  return { fit: true, isDegraded: true, passedOver, validUntilMs: passedOver.validUntilMs };
}

/** The reason that the answer states, with its figure: of a no, or of a yes in spite of it; `null` of any other yes. */
export function statedOf(verdict: Verdict): Unfit | null {
  return verdict.fit ? verdict.passedOver : verdict;
}

/** Refuses, until something is recorded. @param figure one that time alone does not change */
export function unfit(reason: Reason, figure: string | null = null): Unfit {
  return { fit: false, reason, figure, isFigureTimed: false, validUntilMs: Infinity };
}

/** Refuses with a figure that changes with time alone. */
export function unfitWithAge(reason: Reason, figure: string): Unfit {
  return { fit: false, reason, figure, isFigureTimed: true, validUntilMs: Infinity };
}

/**
 * Limits how long a verdict is valid, for one that also depends on a condition that changes at an instant.
 * @param untilMs ms of rolecall's clock
 * @returns the verdict itself where it is valid no longer than that
 */
export function validUntil(verdict: Verdict, untilMs: number): Verdict {
  if (verdict.validUntilMs <= untilMs) return verdict;
  if (verdict.fit) {
    const { isDegraded, passedOver } = verdict;
    return { fit: true, isDegraded, passedOver, validUntilMs: untilMs };
  }
  const { reason, figure, isFigureTimed } = verdict;
  return { fit: false, reason, figure, isFigureTimed, validUntilMs: untilMs };
}
