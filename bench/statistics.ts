/** Statistics of measured values, and their text. */

/** The median: one bad round does not move it. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The quantile `q` (0 to 1) of the values. NaN if there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = new Float64Array(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** A figure with its 95 % interval. */
export interface Interval {
  readonly figure: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The median of the values with its 95 % interval, by the percentile bootstrap: 2,000 samples with replacement. The
 * random numbers are the same in every run, so the same values give the same interval. NaN if there are no values.
 */
export function medianInterval(values: readonly number[]): Interval {
  let state = 0x9e3779b9;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0; // Numerical Recipes, 7.1
    return state / 2 ** 32;
  };
  const medians = Array.from({ length: 2_000 }, () =>
    median(values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN)),
  );
  return { figure: median(values), low: quantile(medians, 0.025), high: quantile(medians, 0.975) };
}

/** Formats a figure with three significant digits: `61 500`, `17.2`, `0.83`. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value >= 1000)
    return Math.round(value)
      .toString()
      .replace(/\B(?=(\d{3})+$)/g, " ");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
