import type { DcsState } from "../../cluster/dcs.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { viewAt, type ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isFresh } from "../evidence/node/freshness.ts";
import type { HealthPolicy } from "../health-policy.ts";
import type { SituationInputs } from "../conditions/condition.ts";
import { findTwinsAmong, type FindTwins } from "../conditions/twins.ts";
import { nodeOverview, type NodeOverview } from "./node-overview.ts";
import { scheduledSwitchover, statedLags, type ScheduledSwitchover, type StatedLag } from "../evidence/node/plans.ts";
import { situationOf, type Situation } from "./situation.ts";

/** All clusters at one instant: the fields of `GET /status`, which `rolecall status` shows. */
export interface Overview {
  readonly instance: string;
  readonly snapshot: number;
  readonly clusters: readonly ClusterOverview[];
}

/** One cluster. Unknown values are `null`. */
export interface ClusterOverview {
  readonly cluster: string;
  readonly scope: string | null;
  /** The node that holds the lock, by rule 2. */
  readonly leader: string | null;
  readonly timeline: number | null;
  /** No node has fresh evidence: the fault is likely rolecall's. */
  readonly blind: boolean;
  readonly paused: boolean;
  /** The DCS is down, and the leader continues because every member agreed. */
  readonly failsafe: boolean;
  readonly scheduled_switchover: ScheduledSwitchover | null;
  /** By node, where the `/cluster` document states it. */
  readonly stated_lags: { readonly [node: string]: StatedLag };
  /** Present if a DCS is configured. */
  readonly dcs?: DcsOverview;
  readonly nodes: readonly NodeOverview[];
  readonly situation: Situation;
}

/** The DCS of a cluster. */
export interface DcsOverview {
  /** Whether the watch works. */
  readonly up: boolean;
  /** Why it does not, or what is wrong with the keys; `null` if nothing is. */
  readonly problem: string | null;
  /** The member that it named last; `null` for nobody, and before the first read. */
  readonly leader: string | null;
  /** Whether it may withdraw a yes. */
  readonly trusted: boolean;
}

/** The instant of an overview: in ms of rolecall's clock, and in ms since the epoch. */
export interface OverviewInstant {
  readonly nowMs: number;
  readonly wallMs: number;
}

/**
 * Summarizes all clusters.
 * @param policy the policy of each cluster; a cluster without one is omitted
 */
export function overview(
  snapshot: Snapshot,
  policy: (cluster: string) => HealthPolicy | undefined,
  { nowMs, wallMs }: OverviewInstant,
): Overview {
  const findTwins = findTwinsAmong(snapshot.clusters, policy);
  const clusters = snapshot.clusters.flatMap((state) => {
    const healthPolicy = policy(state.name);
    return healthPolicy === undefined
      ? []
      : [clusterOverview(viewAt(state, healthPolicy, nowMs), { wallMs, asked: [], findTwins })];
  });
  return { instance: snapshot.instance, snapshot: snapshot.sequence, clusters };
}

function clusterOverview(
  view: ClusterView,
  { findTwins, ...inputs }: Omit<SituationInputs, "nodes" | "twins"> & { readonly findTwins: FindTwins },
): ClusterOverview {
  const nodes = view.cluster.nodes.map((node) => nodeOverview(view, node, inputs.asked));
  return { ...clusterHead(view), nodes, situation: situationOf(view, { ...inputs, nodes, twins: findTwins(view) }) };
}

/** A cluster without its nodes and its situation, which depends on them. */
export function clusterHead(view: ClusterView): Omit<ClusterOverview, "nodes" | "situation"> {
  const { cluster, lock } = view;
  const fresh = cluster.nodes.filter((node) => isFresh(node, view.maxAgeMs, view.nowMs));
  return {
    cluster: cluster.name,
    scope: cluster.scope,
    leader: lock.holder,
    timeline: cluster.position?.timeline ?? null,
    blind: view.isBlind,
    paused: fresh.some(({ report }) => report?.isPaused === true),
    failsafe: fresh.some(({ report }) => report?.isFailsafe === true),
    scheduled_switchover: scheduledSwitchover(cluster.documents.cluster),
    stated_lags: statedLags(view),
    ...(cluster.dcs === null ? {} : { dcs: dcsOverview(cluster.dcs) }),
  };
}

function dcsOverview({ isUp, failure, read, distrust }: DcsState): DcsOverview {
  const problem = failure?.detail ?? (read?.hasScope === false ? "no key of the scope" : null);
  return { up: isUp, problem, leader: read?.leader ?? null, trusted: distrust === null };
}
