/**
 * Exponential back-off: the delay doubles with each failure in a row, up to a limit. Immutable: each function returns a
 * new one.
 */
export interface Backoff {
  /** The delay after the first failure, in ms. */
  readonly firstMs: number;
  /** The longest delay, in ms. */
  readonly maxMs: number;
  readonly failures: number;
}

/** Returns the back-off after one more failure. */
export function afterFailure(backoff: Backoff): Backoff {
  return { ...backoff, failures: backoff.failures + 1 };
}

/** Returns the back-off after a success: no delay. */
export function afterSuccess(backoff: Backoff): Backoff {
  return { ...backoff, failures: 0 };
}

/** Returns the delay before the next attempt, in ms; 0 without a failure. */
export function backoffMs({ firstMs, maxMs, failures }: Backoff): number {
  return failures <= 0 ? 0 : Math.min(maxMs, firstMs * 2 ** (failures - 1));
}
