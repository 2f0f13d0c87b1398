import type { ClusterState } from "../../src/cluster/snapshot.ts";
import { parseReport } from "../../src/cluster/documents/report.ts";
import { defaultGuards } from "../../src/health/guards.ts";
import { observe } from "../../src/health/observe/observe.ts";
import type { HealthPolicy } from "../../src/health/health-policy.ts";
import { buildClusters } from "../../src/state/clusters.ts";
import { clusterOf, configOf, nodeOf } from "./config.ts";

export const plainSettings: HealthPolicy = {
  guards: defaultGuards,
  intervalMs: 1_000,
  timeoutMs: 2_500,
  maxAgeMs: 5_500,
  livenessMaxAgeMs: 30_000,
  viewMaxAgeMs: 11_500,
  pageMaxAgeMs: 30_000,
  fall: 3,
  rise: 1,
  discovers: false,
};

/** What a test says of a node; the rest is a healthy node. */
export interface Told {
  readonly name: string;
  readonly role: "primary" | "replica";
  readonly at?: number;
  readonly document?: object;
}

/** A cluster's part in which each node has been heard at `nowMs`. The primary holds the lock at position 1000. */
export function partOf(nodes: readonly Told[], nowMs = 1_000): ClusterState {
  const config = configOf({
    clusters: [clusterOf({ nodes: nodes.map(({ name }) => nodeOf({ name, api: `http://${name}.test:8008` })) })],
  });
  const [monitored] = buildClusters(config, new Map());
  if (monitored === undefined) throw new Error("Cannot tend a cluster as there must be one");
  let { cluster } = monitored;
  for (const { name, role, at = 1_000, document = {} } of nodes) {
    const xlog =
      role === "primary" ? { location: at } : { received_location: at, replayed_location: at, paused: false };
    const report = parseReport({
      state: "running",
      role,
      timeline: 1,
      xlog,
      replication_state: "streaming",
      patroni: { version: "4.1.4", scope: "demo", name },
      ...document,
    });
    if (report === undefined) throw new Error(`Cannot read the report of ${name}`);
    const result = { report, hasLock: role === "primary" };
    cluster = observe(
      cluster,
      { kind: "status", cluster: "demo", node: name, sentAtMs: nowMs, sentAtWallMs: nowMs, result },
      { policy: plainSettings, nowMs },
    );
  }
  return cluster;
}
