import { isDiverged, isMarkedAlike, noAttachment, type Attachment, type Fork } from "../cluster/attachment.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { countOf, isObject, listOf, nameOf, type JsonObject } from "../cluster/values/json.ts";
import type { MonitoredCluster } from "./store.ts";

/** The most entries that are read: more than any configuration has nodes. */
const accusationsMax = 10_000;

/**
 * A node that was marked detached, stalled or diverged (rules 5 and 6) when the state was saved. The mark stays until a
 * sign of attachment, over a restart too.
 */
export interface Accusation extends Pick<Attachment, "isDetached" | "isStalled" | "isOffTimeline"> {
  readonly cluster: string;
  readonly node: string;
  /** The address of its API: another database may have taken the name since. */
  readonly api: string | null;
  /** The mark by rule 6 (c) or (d), without its attach window; `null` if it has none. */
  readonly fork: Fork | null;
}

/** The marked nodes of a snapshot, in the form of the state file. */
export function accusationsToJson(snapshot: Snapshot): readonly object[] {
  return snapshot.clusters.flatMap((cluster) =>
    cluster.nodes.filter(isMarked).map(({ node, attachment }) => ({
      cluster: cluster.name,
      node: node.name,
      api: node.api,
      detached: attachment.isDetached,
      stalled: attachment.isStalled,
      diverged: attachment.isOffTimeline,
      forked_up_to: attachment.fork?.upTo ?? null,
      forked_end_known: attachment.fork?.isEndKnown ?? true,
    })),
  );
}

/** Reads the section `accused` of a state file. Entries that cannot be read are left out. */
export function parseAccusations(section: unknown): readonly Accusation[] {
  return listOf(section).slice(0, accusationsMax).flatMap(parseAccusation);
}

/** Whether the same nodes are marked alike in two states of a cluster with equally many nodes. */
export function hasSameAccusations(before: ClusterState, after: ClusterState): boolean {
  return after.nodes.every(({ attachment }, at) => {
    const previous = before.nodes[at]?.attachment;
    return previous !== undefined && isMarkedAlike(previous, attachment);
  });
}

/** Marks nodes as an earlier run had marked them, except those that have answered since. */
export function withAccusations(
  monitored: readonly MonitoredCluster[],
  accusations: readonly Accusation[],
): readonly MonitoredCluster[] {
  const withSavedMarks = (cluster: string, observation: Observation): Observation => {
    if (observation.report !== null) return observation;
    const accusation = accusations.find((candidate) => isAbout(candidate, cluster, observation));
    if (accusation === undefined) return observation;
    const { isDetached, isStalled, isOffTimeline, fork } = accusation;
    return { ...observation, attachment: { ...noAttachment, isDetached, isStalled, isOffTimeline, fork } };
  };
  return monitored.map(({ cluster, policy }) => ({
    policy,
    cluster: { ...cluster, nodes: cluster.nodes.map((observation) => withSavedMarks(cluster.name, observation)) },
  }));
}

function isAbout(accusation: Accusation, cluster: string, { node }: Observation): boolean {
  return accusation.cluster === cluster && accusation.node === node.name && accusation.api === node.api;
}

function isMarked({ attachment }: Observation): boolean {
  return attachment.isDetached || attachment.isStalled || isDiverged(attachment);
}

function parseAccusation(value: unknown): Accusation[] {
  if (!isObject(value)) return [];
  const [cluster, node] = [nameOf(value["cluster"], 128), nameOf(value["node"], 128)];
  if (cluster === null || node === null) return [];
  return [
    {
      cluster,
      node,
      api: nameOf(value["api"]),
      isDetached: value["detached"] === true,
      isStalled: value["stalled"] === true,
      isOffTimeline: value["diverged"] === true,
      fork: parseFork(value),
    },
  ];
}

function parseFork(value: JsonObject): Fork | null {
  const upTo = countOf(value["forked_up_to"]);
  return upTo === null ? null : { upTo, isEndKnown: value["forked_end_known"] !== false, window: null };
}
