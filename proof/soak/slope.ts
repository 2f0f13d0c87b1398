/** A figure at an instant. */
export interface Point {
  /** In hours. */
  readonly hour: number;
  readonly value: number;
}

/** A trend per hour with the limits of its 95 % confidence interval. */
export interface Slope {
  readonly perHour: number;
  readonly low: number;
  readonly high: number;
  /** The number of windows that it was computed from. */
  readonly windows: number;
}

/** The two-sided 95 % quantile of the normal distribution. */
const normalQuantile = 1.96;

/**
 * The least figure of each window of time. A garbage collector lets memory rise and fall between collections, and
 * clients come and go: what is left at the lowest point of a window is what a leak raises.
 * @param windowHours the length of a window
 */
export function minimaOf(points: readonly Point[], windowHours: number): readonly Point[] {
  return sortedWindows(points, windowHours).flatMap((window) => window[0] ?? []);
}

/**
 * The median figure of each window of time.
 * @param windowHours the length of a window
 */
export function mediansOf(points: readonly Point[], windowHours: number): readonly Point[] {
  return sortedWindows(points, windowHours).flatMap((window) => window[Math.floor(window.length / 2)] ?? []);
}

/** The points of each window that has any, with the least figure first; the windows in order of time. */
function sortedWindows(points: readonly Point[], windowHours: number): readonly (readonly Point[])[] {
  const windows = new Map<number, Point[]>();
  for (const point of points) {
    const at = Math.floor(point.hour / windowHours);
    const window = windows.get(at);
    if (window === undefined) windows.set(at, [point]);
    else window.push(point);
  }
  return [...windows.values()].map((window) => window.sort((a, b) => a.value - b.value));
}

/**
 * The slope after Theil and Sen: the median of the slopes of all pairs, which single outliers do not move. The
 * confidence interval is Sen's, from the variance of Kendall's S with its correction for equal figures.
 * @returns `null` for fewer than 8 points: the normal approximation does not hold
 */
export function slopeOf(points: readonly Point[]): Slope | null {
  if (points.length < 8) return null;
  const slopes = points
    .flatMap((a, at) => points.slice(at + 1).map((b) => (b.value - a.value) / (b.hour - a.hour)))
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const half = (normalQuantile * Math.sqrt(varianceOf(points))) / 2;
  const middle = slopes.length / 2;
  const at = (rank: number): number => slopes[Math.min(slopes.length - 1, Math.max(0, rank))] ?? Number.NaN;
  return {
    perHour: (at(Math.floor((slopes.length - 1) / 2)) + at(Math.floor(middle))) / 2,
    low: at(Math.floor(middle - half) - 1),
    high: at(Math.ceil(middle + half)),
    windows: points.length,
  };
}

/** The variance of Kendall's S. Groups of equal figures lessen it. */
function varianceOf(points: readonly Point[]): number {
  const counts = new Map<number, number>();
  for (const { value } of points) counts.set(value, (counts.get(value) ?? 0) + 1);
  const term = (n: number): number => n * (n - 1) * (2 * n + 5);
  const ties = [...counts.values()].reduce((sum, count) => sum + term(count), 0);
  return (term(points.length) - ties) / 18;
}
