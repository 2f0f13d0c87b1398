import type { FeatureMetric } from "../../core/feature/feature.ts";
import type { MetricSamples } from "../../core/metrics/brought-metric.ts";
import { isElsewhere, isUnfit, type KnownCanary } from "./core/canary.ts";
import type { RunningCanaries } from "./open-canaries.ts";

type Sample = readonly [Readonly<Record<string, string>>, number];

/** The metrics of canaries that are read at a scrape. */
export const canaryMetrics: readonly FeatureMetric<RunningCanaries>[] = [
  {
    type: "gauge",
    name: "rolecall_canary_up",
    help: "Whether the last try of a canary passed. No sample before the first try, and while none can be made.",
    read: (running) =>
      samplesOf(running, ({ canary, isOld }) =>
        isOld || isUnfit(canary) ? null : Number(canary.state.phase === "passed"),
      ),
  },
  {
    type: "gauge",
    name: "rolecall_canary_unfit",
    help: "Whether a canary cannot try: it lacks its table, or its own user, password or files are refused.",
    read: (running) => samplesOf(running, ({ canary, isOld }) => (isOld ? null : Number(isUnfit(canary)))),
  },
  {
    type: "gauge",
    name: "rolecall_canary_astray",
    help: "Whether the last try of a canary reached another database system than the cluster's.",
    read: (running) => samplesOf(running, (one) => (one.isOld ? null : Number(isElsewhere(one.canary.state)))),
  },
  {
    type: "gauge",
    name: "rolecall_canary_success_timestamp_seconds",
    help: "When the last try of a canary began that passed, in seconds since the epoch.",
    read: (running) => samplesOf(running, ({ passedAt }) => passedAt),
  },
  {
    type: "gauge",
    name: "rolecall_canary_row_age_seconds",
    help: "How old the newest row was that the last try of a read canary read, by the clock of its server.",
    read: (running) =>
      samplesOf(running, ({ canary: { state }, isOld }) =>
        state.phase !== "passed" || state.ageMs === null || isOld ? null : state.ageMs / 1000,
      ),
  },
];

interface MeasuredCanary {
  readonly canary: KnownCanary;
  /** Whether tries have failed to say anything for several intervals. */
  readonly isOld: boolean;
  /** In seconds since the epoch. */
  readonly passedAt: number | null;
}

/** So many intervals without a try that says something, and nothing is known any more. */
const oldAfterIntervals = 4;

function samplesOf(running: RunningCanaries | null, valueOf: (one: MeasuredCanary) => number | null): MetricSamples {
  if (running === null) return [];
  const { nowMs, wallMs } = running.instant();
  return running.known().flatMap((canary): readonly Sample[] => {
    const { cluster, pool, target, kind, state, intervalMs, passedAtMs } = canary;
    const isOld = state.phase === "pending" || nowMs - state.triedAtMs > oldAfterIntervals * intervalMs;
    const passedAt = passedAtMs === null ? null : (wallMs - (nowMs - passedAtMs)) / 1000;
    const value = valueOf({ canary, isOld, passedAt });
    return value === null ? [] : [[{ cluster, pool, target, kind }, value]];
  });
}
