/** What is made of many measured values, and how it is written. */

/** The middle one of some values: one bad round does not move it. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the share `q` of the values lies. NaN where there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** Writes a figure with three digits that count: `61 500`, `17.2`, `0.83`. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value >= 1000)
    return Math.round(value)
      .toString()
      .replace(/\B(?=(\d{3})+$)/g, " ");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
