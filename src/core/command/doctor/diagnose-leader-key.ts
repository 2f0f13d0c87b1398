import { countText } from "../../health/wording.ts";
import type { DcsRead, DcsResult } from "../../cluster/dcs.ts";
import { lockHolderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { readAccess, type AccessMaterial } from "../../config/access-material.ts";
import type { OpenDcsSource } from "../../dcs/dcs-source.ts";
import type { ClusterConfig, DcsConfig } from "../../config/model/config.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import type { DoctorContext } from "./doctor-context.ts";

/**
 * Reads the leader key of every cluster in a DCS of one kind: whether the DCS answers (RC125), has keys of the cluster
 * (RC126) and names the node that holds the lock (RC127).
 * @param open opens the keys of a cluster in it
 * @param what names it in the coverage of the result
 */
export async function diagnoseLeaderKeys(
  { command: { result }, config, probed }: DoctorContext,
  open: OpenDcsSource,
  what: string,
): Promise<void> {
  const watched = config.clusters.flatMap((cluster) => {
    const { dcs } = cluster;
    return dcs !== null && isIn(open, cluster, dcs) ? [{ cluster, dcs }] : [];
  });
  if (watched.length === 0) return;
  const reads = await Promise.all(
    watched.map(async ({ cluster, dcs }) => ({ name: cluster.name, read: await readOnce(cluster, dcs, open) })),
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
  result.cover(what, answered === reads.length ? "complete" : "incomplete", {
    detail: `${answered} of ${countText(reads.length, "cluster")}: the DCS answers`,
  });
}

/** Whether the keys of a cluster are in a DCS of this kind. */
function isIn(open: OpenDcsSource, cluster: ClusterConfig, dcs: DcsConfig): boolean {
  const source = open(cluster, dcs, { tls: {}, auth: null });
  source?.close();
  return source !== null;
}

/** Reads the leader key, from each server in turn until one answers. */
async function readOnce(cluster: ClusterConfig, dcs: DcsConfig, open: OpenDcsSource): Promise<DcsResult> {
  let access: AccessMaterial;
  try {
    access = readAccess(dcs);
  } catch (error) {
    return { failure: { kind: "tls", detail: errorMessage(error) } };
  }
  const source = open(cluster, dcs, access);
  if (source === null) return { failure: { kind: "unreachable", detail: "the DCS is of another kind" } };
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
