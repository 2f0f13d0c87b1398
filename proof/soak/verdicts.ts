import { cycleOf, isCalm } from "./cycle.ts";
import { endsWorker, explanationOf, isRefusedForSlowness, isStarved } from "./explanations.ts";
import type { LoggedLine, SoakRecords } from "./records.ts";
import { measures, type SoakSpan, type Trend, trendOf } from "./trends.ts";

/** One requirement of a soak and whether it held. */
export interface Verdict {
  readonly requirement: string;
  readonly found: string;
  readonly holds: boolean;
}

/** The trends of one process that lived through the second half. */
export interface ProcessTrends {
  readonly pid: number;
  readonly kind: string;
  readonly trends: readonly Trend[];
}

/** What came of a soak. */
export interface Outcome {
  readonly processes: readonly ProcessTrends[];
  readonly series: Trend;
  readonly verdicts: readonly Verdict[];
  /** How often each explanation covered a line of the log, and the lines that none covers. */
  readonly explained: ReadonlyMap<string, number>;
  readonly unexplained: readonly LoggedLine[];
  readonly holds: boolean;
}

/** Judges what a soak wrote. */
export function outcomeOf(records: SoakRecords): Outcome {
  const { begin, end, scrapes } = records;
  const untilMs = end?.atMs ?? scrapes.at(-1)?.atMs ?? begin.atMs;
  const span: SoakSpan = { fromMs: begin.atMs, untilMs, cycle: cycleOf(begin.minutes) };
  const processes = trendsOf(records, span);
  const series = trendOf(
    { name: "series of /metrics", bound: { count: 1 }, skip: 0.5, window: "least" },
    scrapes.map(({ atMs, series: value }) => ({ atMs, value })),
    span,
  );
  const explained = new Map<string, number>();
  const unexplained: LoggedLine[] = [];
  for (const line of records.lines) {
    const why = explanationOf(line, records);
    if (why === null) unexplained.push(line);
    else explained.set(why, (explained.get(why) ?? 0) + 1);
  }
  const verdicts = [
    ...flatness(processes),
    ...seriesVerdicts(series, scrapes, span),
    ...soundness(records, unexplained),
  ];
  return { processes, series, verdicts, explained, unexplained, holds: verdicts.every(({ holds }) => holds) };
}

function trendsOf({ samples }: SoakRecords, span: SoakSpan): readonly ProcessTrends[] {
  const middleMs = (span.fromMs + span.untilMs) / 2;
  return [...samples].flatMap(([pid, all]) => {
    const [first, last] = [all[0], all.at(-1)];
    if (first === undefined || last === undefined || first.atMs > middleMs || last.atMs < span.untilMs - 30_000)
      return [];
    const trends = measures.map((measure) => {
      const series = all.flatMap((sample) => {
        const value = measure.of(sample);
        return value === undefined ? [] : [{ atMs: sample.atMs, value }];
      });
      return trendOf(measure, series, span);
    });
    return [{ pid, kind: first.kind, trends }];
  });
}

/**
 * The number of series varies with what happened lately: a series begins with the first event of its kind, and the
 * series of a node end when it leaves the member list. So it needs not be flat. But no series may outlive its cluster.
 */
function seriesVerdicts(series: Trend, scrapes: SoakRecords["scrapes"], span: SoakSpan): readonly Verdict[] {
  const foreign = scrapes
    .filter(({ atMs }) => span.cycle !== null && isCalm(span.cycle, atMs - span.fromMs))
    .map((scrape) => scrape.foreign);
  return [
    { requirement: `${series.measure} not growing`, ...flat(series), holds: series.growth !== "grows" },
    {
      requirement: "no series of a cluster or node that is gone, in the calm parts",
      found: `${Math.max(0, ...foreign)} at most, in ${foreign.length} scrapes`,
      holds: foreign.every((count) => count === 0),
    },
  ];
}

function flatness(processes: readonly ProcessTrends[]): readonly Verdict[] {
  const kinds = new Set(processes.map(({ kind }) => kind));
  return [
    ...processes.flatMap(({ kind, trends }) =>
      trends.map((trend) => ({ requirement: `${kind}: ${trend.measure} flat`, ...flat(trend) })),
    ),
    {
      requirement: "a main process and a worker that lived through the second half",
      found: [...kinds].join(", "),
      holds: kinds.has("main") && kinds.has("worker"),
    },
  ];
}

function flat({ slope, growth, bound }: Trend): Pick<Verdict, "found" | "holds"> {
  const interval =
    slope === null ? "too few windows" : `${slope.low.toPrecision(3)} to ${slope.high.toPrecision(3)} per hour`;
  return { found: `${growth}: ${interval}, bound ${bound.toPrecision(3)}`, holds: growth === "flat" };
}

function soundness(records: SoakRecords, unexplained: readonly LoggedLine[]): readonly Verdict[] {
  const { end, scrapes, samples } = records;
  const uncaught = [...samples.values()].flat().flatMap((sample) => sample.problems);
  const last = scrapes.at(-1);
  const counts = end?.counts ?? last?.counts;
  const none = (requirement: string, count: number | undefined): Verdict => ({
    requirement,
    found: String(count ?? "unknown"),
    holds: count === 0,
  });
  return [
    none("no uncaught exception, unhandled rejection or warning of Node", uncaught.length),
    none("no contained internal error", last?.contained),
    none("no wrong answer", counts?.wrong),
    none("no lost check that no kill or reload explains", counts?.unexplainedLosses),
    none("no line of the level error that the plan does not explain", unexplained.length),
    none("no failed action or scrape, unless the processor was missing", failedOf(records).length),
    ...counters(records),
    {
      requirement: "the program ran to the end and stopped on SIGTERM with exit code 0",
      found: end?.end ?? "still running or cut off",
      holds: end?.wasRunning === true && end.end === "exit code 0",
    },
  ];
}

/**
 * Compares rolecall's own counters with the plan: each end of a worker and each reload must be counted once. The times
 * of log lines do not matter: on a busy machine a reload may be refused long after the plan requested it.
 */
function counters({ end, lines, scrapes, gaps }: SoakRecords): readonly Verdict[] {
  const { workersLost = Number.NaN, refused = Number.NaN, applied = Number.NaN } = scrapes.at(-1) ?? {};
  const { valid, invalid } = end?.reloads ?? { valid: Number.NaN, invalid: Number.NaN };
  const killed = end?.killed ?? [];
  const starved = lines.filter(({ atMs }) => isStarved({ gaps }, atMs));
  const replaced = starved.filter(({ msg, fields }) => endsWorker.test(msg) && !killed.includes(Number(fields["pid"])));
  const tooSlow = starved.filter(isRefusedForSlowness);
  const expected = end === null ? Number.NaN : killed.length + replaced.length;
  return [
    {
      requirement: `workers that ended: those that were killed, and ${replaced.length} that had no processor to start`,
      found: `${shown(workersLost)}, expected ${shown(expected)}`,
      holds: workersLost === expected,
    },
    {
      requirement: `refused reloads: the invalid ones, and at most ${tooSlow.length} that a worker had no processor for`,
      found: `${shown(refused)}, with ${shown(invalid)} invalid reloads in the plan`,
      holds: refused >= invalid && refused <= invalid + tooSlow.length,
    },
    {
      requirement: "applied and refused reloads: all of the plan",
      found: `${shown(applied)} and ${shown(refused)}, expected ${shown(valid + invalid)} in all`,
      holds: applied + refused === valid + invalid,
    },
  ];
}

function shown(count: number): string {
  return Number.isNaN(count) ? "unknown" : String(count);
}

/** What failed although the processor was not missing. */
function failedOf(records: SoakRecords): SoakRecords["failed"] {
  return records.failed.filter(({ atMs }) => !isStarved(records, atMs));
}
