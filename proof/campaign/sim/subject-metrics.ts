import { featureCounted } from "../../../src/app/registry/counted.ts";
import type { MonitorContext } from "../../../src/app/monitor.ts";
import { clusterEventKinds } from "../../../src/app/registry/event-kinds.ts";
import { processEventKinds } from "../../../src/core/events/cluster-event.ts";
import { Metrics } from "../../../src/core/metrics/metrics.ts";

function unused(): never {
  throw new Error("Cannot render the metrics: a simulation has no page of them");
}

/** The metrics of all simulated runs of a process: they only count. */
export const metrics: MonitorContext["metrics"] = new Metrics({
  asked: () => [],
  found: () => [],
  eventKinds: { cluster: clusterEventKinds, process: processEventKinds },
  counted: featureCounted,
  configInForce: unused,
  snapshot: unused,
  policy: unused,
  now: () => 0,
  wall: () => 0,
  answers: () => [],
  workers: unused,
  fastPath: unused,
  ofFeatures: () => [],
  fed: () => new Set(),
  certificates: () => [],
  lostLogLines: () => 0,
  refresh: unused,
  exporter: unused,
  schedule: unused,
  version: "simulated",
});
