import { isAccusedAlike, noAttachment } from "../cluster/attachment.ts";
import { isObject, listOf, nameOf } from "../cluster/values/json.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { readStateFile } from "./state-file.ts";
import type { MonitoredCluster } from "./store.ts";

/** More accusations than this are not read: as many as a file can hold of nodes that are kept. */
const accusationsMax = 10_000;

/** What a node was accused of under rules 5 and 6 when it was written down: it stays so until a sign, a restart of rolecall or not. */
interface Accusation {
  readonly cluster: string;
  readonly node: string;
  /** Where its API was: another database may have taken the name since. */
  readonly api: string | null;
  readonly isDetached: boolean;
  readonly isStalled: boolean;
  readonly isDiverged: boolean;
}

/** The accusations of a snapshot, in the form of the state file. */
export function rememberedAccusations(snapshot: Snapshot): readonly object[] {
  return snapshot.clusters.flatMap((cluster) =>
    cluster.nodes.filter(isAccused).map(({ node, attachment }) => ({
      cluster: cluster.name,
      node: node.name,
      api: node.api,
      detached: attachment.isDetached,
      stalled: attachment.isStalled,
      diverged: attachment.isDiverged,
    })),
  );
}

/** Whether the same nodes are accused of the same in two parts with equally many nodes. */
export function hasSameAccusations(before: ClusterState, after: ClusterState): boolean {
  return after.nodes.every(({ attachment }, at) => {
    const known = before.nodes[at]?.attachment;
    return known !== undefined && isAccusedAlike(known, attachment);
  });
}

/**
 * Puts the accusations of an earlier run in force again, for nodes that have not answered since.
 * @param file the state file; where it is absent or cannot be read nobody is accused
 */
export function withAccusations(monitored: readonly MonitoredCluster[], file: string): readonly MonitoredCluster[] {
  const accusations = readAccusations(file);
  return monitored.map(({ cluster, policy }) => ({
    policy,
    cluster: {
      ...cluster,
      nodes: cluster.nodes.map((node) =>
        accused(
          node,
          accusations.find((one) => isOf(one, cluster.name, node)),
        ),
      ),
    },
  }));
}

function accused(node: Observation, accusation: Accusation | undefined): Observation {
  if (accusation === undefined || node.report !== null) return node;
  const { isDetached, isStalled, isDiverged } = accusation;
  return { ...node, attachment: { ...noAttachment, isDetached, isStalled, isDiverged } };
}

function isOf(accusation: Accusation, cluster: string, { node }: Observation): boolean {
  return accusation.cluster === cluster && accusation.node === node.name && accusation.api === node.api;
}

function isAccused({ attachment }: Observation): boolean {
  return attachment.isDetached || attachment.isStalled || attachment.isDiverged;
}

function readAccusations(file: string): readonly Accusation[] {
  const { accused: rows } = readStateFile(file).value;
  return listOf(rows).slice(0, accusationsMax).flatMap(remembered);
}

function remembered(value: unknown): Accusation[] {
  if (!isObject(value)) return [];
  const [cluster, node] = [nameOf(value["cluster"], 128), nameOf(value["node"], 128)];
  if (cluster === null || node === null) return [];
  const [isDetached, isStalled, isDiverged] = [
    value["detached"] === true,
    value["stalled"] === true,
    value["diverged"] === true,
  ];
  return [{ cluster, node, api: nameOf(value["api"]), isDetached, isStalled, isDiverged }];
}
