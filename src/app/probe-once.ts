import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import type { Config } from "../config/model/config.ts";
import { overview, type Overview } from "../health/explain/overview.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { Probers } from "../probe/probers.ts";
import { buildClusters, livenessIntervalFactor } from "../state/clusters.ts";
import { Store } from "../state/store.ts";

/** The result of one round of probes. */
export interface ProbedClusters {
  readonly snapshot: Snapshot;
  /** @returns the cluster of that name, or `undefined` */
  readonly cluster: (name: string) => ClusterState | undefined;
  /** @returns the health policy of a cluster, or `undefined` if there is no such cluster */
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** The clock of the evidence, in ms. Evidence ages while it runs. */
  readonly now: () => number;
  readonly overview: () => Overview;
}

/**
 * Probes every node of every cluster once, as a serving process does, and stops. Takes at most one probe timeout.
 * Evidence that needs several probes is missing: time lag, attachment, the history of the leader.
 * @param onTlsProblem receives each problem with the TLS files of a cluster
 */
export async function probeOnce(
  config: Config,
  onTlsProblem: (cluster: string, problem: string) => void,
): Promise<ProbedClusters> {
  const store = new Store("once", buildClusters(config, new Map()));
  const cluster = (name: string): ClusterState | undefined =>
    store.current.clusters.find((candidate) => candidate.name === name);
  const policy = (name: string): HealthPolicy | undefined => store.policyOf(name);
  const probers = new Probers({
    record: (outcome) => store.record(outcome, now()),
    cluster,
    policy,
    now,
    wall: () => Date.now(),
    random: Math.random,
    onProbeFinished: () => {},
    onTls: (name, problem) => {
      if (problem !== null) onTlsProblem(name, problem);
    },
  });
  store.onChange((before, after) => probers.onChange(before, after));
  try {
    await probers.start(config, livenessIntervalFactor);
  } finally {
    probers.stop();
  }
  return { snapshot: store.current, cluster, policy, now, overview: () => overview(store.current, policy, now()) };
}

/** A monotonic clock, in ms. */
function now(): number {
  return performance.now();
}
