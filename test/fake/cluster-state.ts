import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { defaultGuards } from "../../src/core/health/guards.ts";
import type { HealthPolicy } from "../../src/core/health/health-policy.ts";
import { ClusterFixture } from "./cluster-fixture.ts";
import type { StatusFields } from "./node-documents.ts";

/** The policy of a cluster that is probed every second, with all guards on. */
export const defaultPolicy: HealthPolicy = {
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
  configured: [],
};

/** A node's report: a healthy node's unless a field says otherwise. */
export interface NodeReport {
  readonly name: string;
  readonly role: "primary" | "replica";
  /** Its position, 1000 by default. A replica has received and replayed as much. */
  readonly at?: number;
  readonly document?: StatusFields;
}

/** The state of a cluster whose nodes all reported at `nowMs`. The primary holds the lock. */
export function clusterStateOf(nodes: readonly NodeReport[], nowMs = 1_000): ClusterState {
  const fixed = nodes.map(({ name }) => ({ name, api: `http://${name}.test:8008` }));
  const fixture = new ClusterFixture({ nodes: fixed, policy: defaultPolicy });
  for (const { name, role, at = 1_000, document = {} } of nodes) {
    const xlog =
      role === "primary" ? { location: at } : { received_location: at, replayed_location: at, paused: false };
    fixture.answer(name, { hasLock: role === "primary", fields: { role, xlog, ...document } }, nowMs);
  }
  return fixture.cluster;
}
