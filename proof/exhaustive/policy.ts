import { defaultGuards } from "../../src/core/health/guards.ts";
import type { HealthPolicy } from "../../src/core/health/health-policy.ts";

/** Short durations, in ms, so that few events reach every bound. Guards have their defaults. */
export const exploredPolicy: HealthPolicy = {
  guards: { ...defaultGuards, attachWindowMs: 2_000, demotedForMs: 2_000 },
  maxAgeMs: 2_500,
  livenessMaxAgeMs: 10_000,
  viewMaxAgeMs: 3_500,
  pageMaxAgeMs: 3_500,
  intervalMs: 1_000,
  timeoutMs: 500,
  fall: 2,
  rise: 1,
  discovers: false,
  configured: [],
};
