import type { ClusterPart } from "../../src/cluster/snapshot.ts";
import { parseReport } from "../../src/cluster/report.ts";
import { defaultGuards } from "../../src/health/guards.ts";
import { observe } from "../../src/health/observe.ts";
import type { Settings } from "../../src/health/settings.ts";
import { tend } from "../../src/tend.ts";
import { clusterOf, configOf, nodeOf } from "./config.ts";

export const plainSettings: Settings = {
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
export function partOf(nodes: readonly Told[], nowMs = 1_000): ClusterPart {
  const config = configOf({ clusters: [clusterOf({ nodes: nodes.map(({ name }) => nodeOf({ name, api: `http://${name}.test:8008` })) })] });
  const [tended] = tend(config, new Map());
  if (tended === undefined) throw new Error("Cannot tend a cluster as there must be one");
  let { part } = tended;
  for (const { name, role, at = 1_000, document = {} } of nodes) {
    const xlog = role === "primary" ? { location: at } : { received_location: at, replayed_location: at, paused: false };
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
    part = observe(
      part,
      { kind: "status", cluster: "demo", node: name, sentAtMs: nowMs, sentAtWallMs: nowMs, result },
      { settings: plainSettings, nowMs },
    );
  }
  return part;
}
