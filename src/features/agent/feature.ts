import type { Feature } from "../../core/feature/feature.ts";
import type { RunningAgents } from "./open-agent.ts";

/** Answers to HAProxy's agent checks, on listeners with the dialect agent (docs/haproxy.md). */
export const agent: Feature<RunningAgents> = {
  name: "agent",
  isUsed: ({ listen }) => listen.some(({ dialect }) => dialect === "agent"),
  load: async () => (await import("./open-agent.ts")).openAgent,
  dialects: { agent: { serve: (running, listener) => running.serve(listener) } },
};
