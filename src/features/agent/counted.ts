import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What agents count. */
export const agentCounted = {
  agentAnswers: {
    type: "counter",
    name: "rolecall_agent_answers_total",
    help: "Answers to HAProxy's agent checks: use, drain, checks (left to the health checks), unknown (no server named).",
    labels: ["answer"],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type AgentCounted = typeof agentCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends AgentCounted {}
}
