import type { ProbeSchedule } from "../../src/core/probe/client/probe-context.ts";

/** How often probers of tests ask, where a test says nothing else. */
export const probeSchedule: ProbeSchedule = {
  intervalMs: 1_000,
  burstIntervalMs: 250,
  livenessIntervalMs: 10_000,
  clusterIntervalMs: 3_000,
  configIntervalMs: 30_000,
  metricsIntervalMs: 3_000,
  timeoutMs: 2_500,
  fall: 3,
};
