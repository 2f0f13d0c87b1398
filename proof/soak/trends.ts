import { type Cycle, isCalm } from "./cycle.ts";
import type { ProcessSample } from "./sample.ts";
import { mediansOf, minimaOf, type Point, type Slope, slopeOf } from "./slope.ts";

/** A figure that must not grow. */
export interface Measure {
  readonly name: string;
  /** The figure in a sample; `undefined` if the sample has none. */
  readonly of: (sample: ProcessSample) => number | undefined;
  /** What it may grow by in an hour: a share of its median, or a number. */
  readonly bound: { readonly share: number } | { readonly count: number };
  /** The share of a soak that is left out at its begin. */
  readonly skip: number;
  /**
   * What stands for a window. `least`: the figure falls and rises with garbage or clients. `median`: it does not, so
   * its least value is only the one that deviates most.
   */
  readonly window: "least" | "median";
}

/** Caches fill, and the compiler optimises, in the first quarter. */
const memory = { bound: { share: 0.02 }, skip: 0.25, window: "least" } as const;

/** What is counted depends on neither. The first eighth has all kinds of actions. */
const counted = { bound: { count: 1 }, skip: 0.125, window: "least" } as const;

/**
 * Memory: 2 % per hour would double it in two days of a soak, which have the events of weeks. What is counted
 * (descriptors, threads, timers, promises) has no reason to grow at all, so its bound is one in an hour.
 */
export const measures: readonly Measure[] = [
  { name: "resident memory", of: ({ usage }) => usage.rss, ...memory },
  { name: "live heap after a collection", of: ({ census }) => census?.liveHeap, ...memory, window: "median" },
  { name: "external memory", of: ({ usage }) => usage.external, ...memory },
  { name: "descriptors", of: ({ usage }) => usage.descriptors, ...counted },
  { name: "threads", of: ({ usage }) => usage.threads, ...counted },
  { name: "active handles", of: ({ usage }) => usage.handles, ...counted },
  { name: "timers", of: ({ census }) => census?.timers, ...counted },
  { name: "unsettled promises", of: ({ census }) => census?.unsettled, ...counted },
];

/** The trend of one figure over the part of a soak that counts for it. */
export interface Trend {
  readonly measure: string;
  readonly median: number;
  readonly slope: Slope | null;
  /** What it may grow by in an hour. */
  readonly bound: number;
  /**
   * `flat`: the whole confidence interval of the slope is below the bound; `grows`: it is above zero and reaches the
   * bound; `unclear`: the figure varies too much to tell, or there are too few windows.
   */
  readonly growth: "flat" | "grows" | "unclear";
}

/** How many windows the part that counts is cut into in a soak without cycles. */
const windows = 24;

/** The span of a soak, in ms since the epoch, and its cycle. */
export interface SoakSpan {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly cycle: Cycle | null;
}

/** The trend of a series of figures. Each cycle is a window, of which only the calm part counts. */
export function trendOf(
  { name, bound, skip, window }: Omit<Measure, "of">,
  series: readonly { readonly atMs: number; readonly value: number }[],
  { fromMs, untilMs, cycle }: SoakSpan,
): Trend {
  const beginMs = skip * (untilMs - fromMs);
  const windowMs = cycle?.lengthMs ?? (untilMs - fromMs - beginMs) / windows;
  const points: readonly Point[] = series
    .map(({ atMs, value }) => ({ sinceMs: atMs - fromMs, value }))
    .filter(({ sinceMs }) => sinceMs >= beginMs && sinceMs <= untilMs - fromMs && isCalm(cycle, sinceMs))
    .map(({ sinceMs, value }) => ({ hour: sinceMs / 3_600_000, value }));
  const sorted = points.map(({ value }) => value).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const ofWindows = window === "least" ? minimaOf : mediansOf;
  const slope = slopeOf(ofWindows(points, windowMs / 3_600_000));
  const perHour = "share" in bound ? bound.share * median : bound.count;
  return { measure: name, median, slope, bound: perHour, growth: growthOf(slope, perHour) };
}

function growthOf(slope: Slope | null, bound: number): Trend["growth"] {
  if (slope === null) return "unclear";
  if (slope.high < bound) return "flat";
  return slope.low > 0 ? "grows" : "unclear";
}
