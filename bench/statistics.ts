/** Statistics of measured values, and their text. */

/** The median: one bad round does not move it. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The quantile `q` (0 to 1) of the values. NaN if there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
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
