import type { Observation } from "../../core/cluster/observation.ts";
import { diagnoseLeaderKeys } from "../../core/command/doctor/diagnose-leader-key.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";
import { etcdSourceOf } from "./dcs-watches.ts";

/**
 * Reads the leader key of every cluster whose keys are in etcd (RC125 to RC127), and reports nodes whose Patroni may
 * overwrite it (RC124).
 */
export function diagnoseDcs(context: DoctorContext): Promise<void> {
  reportOverwriting(context);
  return diagnoseLeaderKeys(context, etcdSourceOf, "dcs");
}

/**
 * Patroni before 3.0.3 writes the leader key of etcd's API v3 without a condition once its lease is over (its pull
 * request 2693): a leader whose machine stood still takes the lock from the node that was promoted meanwhile, and stays on
 * its old timeline.
 */
function reportOverwriting({ command: { result }, config, probed }: DoctorContext): void {
  for (const { name, dcs } of config.clusters) {
    if (dcs === null || dcs.etcd.length === 0) continue;
    const old = (probed.cluster(name)?.nodes ?? []).flatMap(({ node, report }) =>
      report !== null && overwritesLock(report) ? [`${node.name} (${report.version})`] : [],
    );
    if (old.length > 0)
      result.diagnose("RC124", { message: `cluster ${name}: Patroni of ${old.join(", ")} is older than 3.0.3` });
  }
}

function overwritesLock({ version }: NonNullable<Observation["report"]>): boolean {
  // Not known is not old.
  const [, major = Infinity, minor = 0, patch = 0] = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? "")?.map(Number) ?? [];
  return major < 3 || (major === 3 && minor === 0 && patch < 3);
}
