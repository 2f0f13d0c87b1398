import type { Guards } from "../guards.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { upstreamsOf } from "../evidence/leadership/sender-chain.ts";
import type { SituationInputs } from "../conditions/condition.ts";
import { type ClusterCondition, isServing } from "../conditions/cluster-condition.ts";
import { isIntended } from "../conditions/node-standing.ts";
import { nodeOverview, type NodeOverview } from "./node-overview.ts";
import { clusterHead, type ClusterOverview } from "./overview.ts";
import { situationOf } from "./situation.ts";

/** One cluster as the live page shows it: the fields of `/status`, and what only a picture of the cluster needs. */
export interface LiveCluster extends Omit<ClusterOverview, "nodes"> {
  /** The guards that this cluster's configuration switches off. */
  readonly guards_off: readonly string[];
  readonly nodes: readonly LiveNode[];
}

/** One node as the live page shows it. */
export interface LiveNode extends NodeOverview {
  /** The node that lists it as a receiver of WAL, in a report that is still fresh; `null` if none does. */
  readonly upstream: string | null;
  /** The WAL position in bytes: a primary's own, or what a replica has replayed. */
  readonly position: number | null;
}

/**
 * Describes one cluster for the live page.
 * @param asked the checks with a limit for lag that balancers send, or are configured
 * @param wallMs the view's instant, in ms since the epoch
 */
export function liveCluster(view: ClusterView, { asked, ...inputs }: Omit<SituationInputs, "nodes">): LiveCluster {
  const upstreams = upstreamsOf(view);
  const nodes = view.cluster.nodes.map((observation) => ({
    ...nodeOverview(view, observation, asked),
    upstream: upstreams.get(observation.node.name) ?? null,
    position: observation.report?.location ?? observation.report?.replayed ?? null,
  }));
  return {
    ...clusterHead(view),
    guards_off: guardsOff(view.policy.guards),
    nodes,
    situation: situationOf(view, { nodes, asked, ...inputs }),
  };
}

/** One cluster as a row of the fleet view. Ages are apart, because they change with every probe. */
export interface ClusterRow {
  readonly cluster: string;
  /** The node that holds the lock. */
  readonly leader: string | null;
  /** The node that is fit as a primary or standby leader; `null` if there is none. */
  readonly primary: string | null;
  readonly is_standby_cluster: boolean;
  readonly timeline: number | null;
  readonly nodes: number;
  readonly replicas: number;
  readonly replicas_fit: number;
  /** The highest known lag of a replica with fresh evidence, in bytes and in ms. */
  readonly lag_bytes: number | null;
  readonly lag_ms: number | null;
  /** Nodes that claim the leader lock and are refused for it. */
  readonly rivals: number;
  readonly drains: number;
  readonly warnings: number;
  readonly blind: boolean;
  readonly paused: boolean;
  readonly failsafe: boolean;
  /** Nodes that are unfit for their role, those left out that an operator or a setting keeps out: the leader first, at most `problemsMax`. */
  readonly problems: readonly { readonly node: string; readonly reason: string; readonly detail: string | null }[];
  readonly problem_count: number;
  /** As in the situation of the cluster. */
  readonly condition: ClusterCondition;
  readonly wrong: string | null;
  readonly cause: string | null;
  readonly since: string | null;
}

/** How many problems a row names. */
const problemsMax = 3;

const rivalReasons: ReadonlySet<string> = new Set(["contested", "superseded", "stray_primary"]);

/** Summarizes one cluster for the fleet view. */
export function clusterRow(cluster: LiveCluster): ClusterRow {
  const { leader, nodes, situation } = cluster;
  const fit = nodes.find(({ verdicts }) => verdicts["primary"] === "fit");
  const standby = nodes.find(({ verdicts }) => verdicts["standby-leader"] === "fit");
  const replicas = nodes.filter(({ node }) => node !== (fit ?? standby)?.node && node !== leader);
  const heard = replicas.filter(({ evidence }) => evidence === "fresh");
  const unfit = nodes
    .filter(({ condition, reason }) => condition === "unfit" && !isIntended(reason))
    .toSorted((one, other) => Number(other.node === leader) - Number(one.node === leader));
  return {
    cluster: cluster.cluster,
    leader,
    primary: (fit ?? standby)?.node ?? null,
    is_standby_cluster: fit === undefined && standby !== undefined,
    timeline: cluster.timeline,
    nodes: nodes.length,
    replicas: replicas.length,
    replicas_fit: replicas.filter(isServing).length,
    lag_bytes: highest(heard.map(({ lag_bytes }) => lag_bytes)),
    lag_ms: highest(heard.map(({ lag_ms }) => lag_ms)),
    rivals: nodes.filter(({ verdicts }) => rivalReasons.has(verdicts["primary"] ?? "")).length,
    drains: nodes.filter(({ drain }) => drain !== null).length,
    warnings: nodes.filter(({ condition }) => condition === "warning").length,
    blind: cluster.blind,
    paused: cluster.paused,
    failsafe: cluster.failsafe,
    problems: unfit.slice(0, problemsMax).map(problemOf),
    problem_count: unfit.length,
    condition: situation.condition,
    wrong: situation.wrong,
    cause: situation.cause,
    since: situation.since,
  };
}

/**
 * What keeps a node out: the reason of its role, else that of the first check of balancers that refuses it. Only a node
 * that is fit for its role has refused checks.
 */
function problemOf({ node, reason, detail, refused }: LiveNode): ClusterRow["problems"][number] {
  const [first] = refused;
  return first === undefined
    ? { node, reason: reason ?? "", detail }
    : { node, reason: first.reason, detail: first.detail };
}

/** The age of the oldest last report of a cluster's nodes, in ms; `null` if no node has ever answered. */
export function oldestReportMs({ nodes }: LiveCluster): number | null {
  return highest(nodes.map(({ age_ms }) => age_ms));
}

function highest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
}

/** Spelled as in the configuration. */
function guardsOff(guards: Guards): readonly string[] {
  const switches = {
    exclusive_primary: guards.exclusivePrimary,
    running_primary: guards.runningPrimary,
    attached_replica: guards.attachedReplica,
    same_system: guards.sameSystem,
    failover_hold: guards.failoverHold,
  };
  return Object.entries(switches).flatMap(([name, isOn]) => (isOn ? [] : [name]));
}
