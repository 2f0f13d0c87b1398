import type { Snapshot } from "../../cluster/snapshot.ts";
import type { Config } from "../../config/model/config.ts";
import { overview, type Overview } from "../../health/explain/overview.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { Probers } from "../../probe/probers.ts";
import { Store } from "../../state/store.ts";
import { livenessIntervalFactor, buildClusters } from "../../state/clusters.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** What one round of probes has found. Ages go on from the instant each probe was sent. */
export interface ProbedCluster {
  readonly snapshot: Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  readonly now: () => number;
  readonly overview: () => Overview;
}

/** Who is told of how it goes. */
export interface ProbeReporter {
  readonly progress: Pick<CommandContext["progress"], "say" | "done">;
  readonly result: Pick<CommandContext["result"], "diagnose">;
}

/**
 * Probes every node of every cluster once, as the running rolecall would, and stops. It takes one timeout at most. A lag in
 * time, an attachment and a leader's history need more than one look: what they need is not there.
 */
export async function probeOnce(config: Config, { progress, result }: ProbeReporter): Promise<ProbedCluster> {
  const store = new Store("once", buildClusters(config, new Map()));
  const policy = (cluster: string): HealthPolicy | undefined => store.policyOf(cluster);
  const probers = new Probers({
    record: (outcome) => store.record(outcome, now()),
    cluster: (cluster) => store.current.clusters[store.current.index.get(cluster) ?? -1],
    policy,
    now,
    wall: () => Date.now(),
    random: Math.random,
    onProbeFinished: () => {},
    onTls: (cluster, problem) => {
      if (problem !== null) result.diagnose("RC111", { message: `TLS of cluster ${cluster}: ${problem}` });
    },
  });
  store.onChange((before, after) => probers.onChange(before, after));
  progress.say("probing the nodes once");
  try {
    await probers.start(config, livenessIntervalFactor);
  } finally {
    probers.stop();
    progress.done();
  }
  return { snapshot: store.current, policy, now, overview: () => overview(store.current, policy, now()) };
}

/** Our clock while one command runs, in ms. */
function now(): number {
  return performance.now();
}
