import { isDistrusted } from "../node/active-drain.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import { isIdentityReadable } from "../../../cluster/documents/report.ts";
import type { ClusterDocument } from "../../../cluster/documents/cluster-document.ts";
import type { ClusterState, WitnessView } from "../../../cluster/snapshot.ts";
import { isMisaddressed, isOutOfScope } from "../node/identity.ts";
import type { LeaderView } from "./leadership-inputs.ts";
import { byName } from "../node/member-authority.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";

/** The maximum number of nodes whose views are kept. */
const witnessesMax = 100;
/**
 * How many request times of successive views that name the same are kept for a node. They are at least 1 s apart, and
 * the rule needs those within one probe interval and one timeout.
 */
const repeatedMax = 32;

/**
 * Returns the most recently requested view of who leads, of any node (rule 4).
 * @returns `undefined` if there is none
 */
export function newestView(cluster: ClusterState): WitnessView | undefined {
  let newest: WitnessView | undefined;
  for (const view of cluster.leaderViews.values()) {
    if (view.sentAtMs > (newest?.sentAtMs ?? -Infinity)) newest = view;
  }
  return newest;
}

/**
 * Returns the views that count at an instant (rule 2): the newest of each correctly identified witness, unless it is
 * too old. A witness's database system does not matter: the views decide which system is the right one.
 */
export function validViews(cluster: ClusterState, policy: HealthPolicy, nowMs: number): readonly LeaderView[] {
  const views: LeaderView[] = [];
  for (const [witness, view] of cluster.leaderViews) {
    const { names, namesAt, sentAtMs, answeredAtMs, repeatedAtMs } = view;
    if (nowMs - sentAtMs >= policy.viewMaxAgeMs || !isIdentified(cluster, witness, { policy, nowMs })) continue;
    views.push({ witness, names, namesAt, requestedAtMs: sentAtMs, answeredAtMs, repeatedAtMs });
  }
  return views;
}

/** How often views are requested, in ms: a view counts for three such intervals and one timeout. */
export function viewIntervalMs({ viewMaxAgeMs, timeoutMs }: HealthPolicy): number {
  return (viewMaxAgeMs - timeoutMs) / 3;
}

/** Whether every view that counts names the node. */
export function isConfirmed(cluster: ClusterState, holder: string, { policy, nowMs }: EvaluationContext): boolean {
  for (const { names, sentAtMs } of cluster.leaderViews.values()) {
    if (names !== holder && nowMs - sentAtMs < policy.viewMaxAgeMs) return false;
  }
  return true;
}

/**
 * Records a node's view; the newest of each node is kept. Names come and go with the member list, so the oldest views
 * are dropped.
 * @param view the node, and when its view was requested and recorded, in ms of rolecall's clock
 */
export function withView(state: ClusterState, cluster: ClusterDocument, view: ViewInstants): ClusterState {
  const { witness } = view;
  const before = state.leaderViews.get(witness);
  if (before !== undefined && before.sentAtMs > view.sentAtMs) return state;
  if (isNoView(state, cluster)) return withListOf(withFailedView(state, witness, view.sentAtMs), cluster, view);
  const others = [...state.leaderViews].filter(([other]) => other !== witness);
  const failedViews = without(state.failedViews, witness);
  const received = nodeNamed(state, witness)?.report?.received ?? null;
  const after = viewOf(state, cluster, { ...view, received, before });
  const leaderViews = new Map([...others.slice(-witnessesMax), [witness, after]]);
  return { ...state, leaderViews, failedViews };
}

/**
 * Whether a document says nothing of the leader: it names none that is known, and a row that cannot be read may be the
 * leader's. It is no view then, not even one that names nobody. The view before it stays.
 */
function isNoView(state: ClusterState, cluster: ClusterDocument): boolean {
  return cluster.isLeaderUnreadable && namedNode(state, cluster) === undefined;
}

/** Records the member list of a document that is no view. Without a view before it, none counts: it is too old. */
function withListOf(state: ClusterState, cluster: ClusterDocument, { witness }: ViewInstants): ClusterState {
  const before = state.leaderViews.get(witness);
  const never = { sentAtMs: -Infinity, nowMs: -Infinity, received: null, before };
  const view = before === undefined ? viewOf(state, cluster, never) : { ...before, ...listIn(cluster) };
  return { ...state, leaderViews: new Map([...state.leaderViews, [witness, view]]) };
}

function listIn(cluster: ClusterDocument): Pick<WitnessView, "members" | "unaddressed" | "leftOut" | "isPartial"> {
  return {
    members: byName(cluster.members),
    unaddressed: new Set(cluster.leftOut.flatMap(({ member, cause }) => (cause === "no_address" ? [member] : []))),
    leftOut: cluster.leftOut,
    isPartial: cluster.isPartial,
  };
}

/** Reads the view of a server from its cluster document. */
export function viewOf(
  state: ClusterState,
  cluster: ClusterDocument,
  { sentAtMs, nowMs, received, before }: ViewEvidence,
): WitnessView {
  const named = namedNode(state, cluster);
  const names = named?.name ?? cluster.leader;
  const earlier = before?.names === names ? before.repeatedAtMs : [];
  const receivedBefore = before?.received ?? null;
  return {
    leader: named?.member ?? cluster.leader,
    names,
    timeline: cluster.leaderTimeline,
    received,
    isReceiving: received !== null && receivedBefore !== null && received > receivedBefore,
    sentAtMs,
    answeredAtMs: nowMs,
    repeatedAtMs: [...earlier, sentAtMs].slice(-repeatedMax),
    namesAt: cluster.leaderApi,
    ...listIn(cluster),
  };
}

/**
 * Records that a node's cluster document could not be fetched. Failures of seeds are ignored: no verdict depends on
 * them.
 */
export function withFailedView(cluster: ClusterState, witness: string, sentAtMs: number): ClusterState {
  const newestMs = Math.max(
    cluster.leaderViews.get(witness)?.sentAtMs ?? -Infinity,
    cluster.failedViews.get(witness) ?? -Infinity,
  );
  if (!cluster.index.has(witness) || newestMs >= sentAtMs) return cluster;
  const others = [...cluster.failedViews].filter(([other]) => other !== witness);
  return { ...cluster, failedViews: new Map([...others.slice(-witnessesMax), [witness, sentAtMs]]) };
}

/** When a view was requested and recorded, and what is known of its server. */
interface ViewEvidence extends Omit<ViewInstants, "witness"> {
  /** The WAL that the server had received by its last report, in bytes; `null` if unknown. */
  readonly received: number | null;
  /** Its view before this one. */
  readonly before: WitnessView | null | undefined;
}

interface ViewInstants {
  readonly witness: string;
  readonly sentAtMs: number;
  readonly nowMs: number;
}

/** Finds the node that a document names as the leader: by member name, else by API address, else by node name. */
function namedNode(
  { nodes }: ClusterState,
  { leader, leaderApi }: ClusterDocument,
): { name: string; member: string } | undefined {
  const found =
    nodes.find(({ node }) => node.member === leader) ??
    nodes.find(({ node }) => leaderApi !== null && node.api === leaderApi) ??
    nodes.find(({ node }) => node.name === leader);
  return found?.node;
}

/**
 * Whether the node's own report identifies it as this node of this cluster. `false` without a report, or if the node is
 * distrusted.
 */
export function isIdentified(cluster: ClusterState, witness: string, { policy, nowMs }: EvaluationContext): boolean {
  const observation = nodeNamed(cluster, witness);
  if (observation === undefined || observation.report === null || isDistrusted(cluster, witness, nowMs)) return false;
  if (!isIdentityReadable(observation.report)) return false;
  return (
    !policy.guards.sameSystem ||
    !(isOutOfScope(cluster, observation.report) || isMisaddressed(observation.node, observation.report))
  );
}

function without(map: ReadonlyMap<string, number>, key: string): ReadonlyMap<string, number> {
  return map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map;
}
