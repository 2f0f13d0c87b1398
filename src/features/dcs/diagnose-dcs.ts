import { countText } from "../../core/health/wording.ts";
import type { DcsRead, DcsResult } from "../../core/cluster/dcs.ts";
import { lockHolderOf } from "../../core/cluster/leadership.ts";
import { nodeNamed } from "../../core/cluster/lookup.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { readAccess, type AccessMaterial } from "../../core/config/access-material.ts";
import { dcsSourceOf } from "./dcs-watches.ts";
import type { ClusterConfig, DcsConfig } from "../../core/config/model/config.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/**
 * Reads the leader key of every cluster with a DCS: whether the DCS answers (RC125), has keys of the cluster (RC126)
 * and names the node that holds the lock (RC127).
 */
export async function diagnoseDcs({ command: { result }, config, probed }: DoctorContext): Promise<void> {
  const watched = config.clusters.flatMap((cluster) => (cluster.dcs === null ? [] : [{ cluster, dcs: cluster.dcs }]));
  if (watched.length === 0) return;
  const reads = await Promise.all(
    watched.map(async ({ cluster, dcs }) => ({ name: cluster.name, read: await readOnce(cluster, dcs) })),
  );
  for (const { name, read } of reads) {
    if ("failure" in read) {
      result.diagnose("RC125", { message: `cluster ${name}: ${read.failure.detail}` });
    } else if (!read.read.hasScope) {
      result.diagnose("RC126", { message: `cluster ${name}: no key next to ${keyOf(read.read)}` });
    } else {
      const problem = disagreement(read.read, probed.cluster(name));
      if (problem !== null) result.diagnose("RC127", { message: `cluster ${name}: ${problem}` });
    }
  }
  const answered = reads.filter(({ read }) => "read" in read).length;
  result.cover("dcs", answered === reads.length ? "complete" : "incomplete", {
    detail: `${answered} of ${countText(reads.length, "cluster")}: the DCS answers`,
  });
}

/** Reads the leader key, from each server in turn until one answers. */
async function readOnce(cluster: ClusterConfig, dcs: DcsConfig): Promise<DcsResult> {
  let access: AccessMaterial;
  try {
    access = readAccess(dcs);
  } catch (error) {
    return { failure: { kind: "tls", detail: errorMessage(error) } };
  }
  const source = dcsSourceOf(cluster, dcs, access);
  try {
    let result = await source.read();
    for (let tried = 1; "failure" in result && tried < source.serverCount; tried += 1) result = await source.read();
    return result;
  } finally {
    source.close();
  }
}

function keyOf({ source }: DcsRead): string {
  return source.split(" ").at(-1) ?? source;
}

/** How the leader key differs from the node that holds the lock; `null` if it does not, or if nobody holds it. */
function disagreement(read: DcsRead, cluster: ClusterState | undefined): string | null {
  const holder = cluster === undefined ? null : lockHolderOf(cluster.leadership);
  if (cluster === undefined || holder === null) return null;
  const member = nodeNamed(cluster, holder)?.node.member ?? holder;
  return read.leader === member || read.leader === holder
    ? null
    : `${keyOf(read)} names ${read.leader ?? "nobody"}, but ${holder} holds the lock`;
}
