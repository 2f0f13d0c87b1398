import { Gauge, type Registry } from "prom-client";
import type { Observation } from "../cluster/observation.ts";
import { presentLag } from "../health/lag.ts";
import { look, type Sight } from "../health/sight.ts";
import { summarize } from "../health/summary.ts";
import type { MetricSources } from "./sources.ts";

const nodeLabels = ["cluster", "node"] as const;

/**
 * What is known of each node: age, role, lag and fitness with the reason.
 * @returns the function that brings them up to date from memory
 */
export function nodeMetrics(registers: Registry[], sources: Omit<MetricSources, "answers">): () => void {
  const gauges = makeGauges(registers);
  return () => {
    for (const gauge of Object.values(gauges)) gauge.reset();
    for (const part of sources.snapshot().parts) {
      const settings = sources.settings(part.name);
      if (settings === undefined) continue;
      const sight = look(part, settings, sources.now());
      for (const observation of part.nodes) show(gauges, sight, observation);
    }
  };
}

type Gauges = ReturnType<typeof makeGauges>;

function makeGauges(registers: Registry[]): {
  readonly age: Gauge<"cluster" | "node">;
  readonly up: Gauge<"cluster" | "node">;
  readonly lag: Gauge<"cluster" | "node">;
  readonly late: Gauge<"cluster" | "node">;
  readonly role: Gauge<"cluster" | "node" | "role">;
  readonly fitness: Gauge<"cluster" | "node" | "check" | "reason">;
} {
  const labelNames = nodeLabels;
  return {
    age: new Gauge({ name: "rolecall_node_age_seconds", help: "Age of the node's last report.", labelNames, registers }),
    up: new Gauge({ name: "rolecall_node_up", help: "1 while the node's last probe was answered.", labelNames, registers }),
    lag: new Gauge({ name: "rolecall_node_lag_bytes", help: "Replay lag behind the leader, where known.", labelNames, registers }),
    late: new Gauge({
      name: "rolecall_node_lag_seconds",
      help: "Replay lag in time, from our own samples; rounded up.",
      labelNames,
      registers,
    }),
    role: new Gauge({
      name: "rolecall_node_role",
      help: "1 for the role the node reports.",
      labelNames: [...nodeLabels, "role"],
      registers,
    }),
    fitness: new Gauge({
      name: "rolecall_node_fit",
      help: "1 where the node is fit for the plain check, else 0 with the reason.",
      labelNames: [...nodeLabels, "check", "reason"],
      registers,
    }),
  };
}

function show({ age, up, lag, late, role, fitness }: Gauges, sight: Sight, observation: Observation): void {
  const labels = { cluster: sight.part.name, node: observation.node.name };
  const summary = summarize(sight, observation);
  if (observation.report !== null) age.set(labels, (sight.nowMs - observation.sentAtMs) / 1000);
  up.set(labels, summary.isReachable ? 1 : 0);
  const present = sight.standing.holder === labels.node ? { bytes: 0, timeMs: 0 } : presentLag(sight, observation);
  if (present.bytes !== null) lag.set(labels, present.bytes);
  if (present.timeMs !== null) late.set(labels, present.timeMs / 1000);
  role.set({ ...labels, role: summary.role }, 1);
  for (const check of ["primary", "replica"] as const) {
    const word = summary[check];
    fitness.set({ ...labels, check, reason: word === "fit" ? "" : word }, word === "fit" ? 1 : 0);
  }
}
