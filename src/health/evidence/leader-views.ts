import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterDocument } from "../../cluster/documents/cluster-document.ts";
import type { ClusterState, WitnessView } from "../../cluster/snapshot.ts";
import { isMisaddressed, isOutOfScope } from "./identity.ts";
import type { LeaderView } from "./leadership.ts";
import { addressesOf } from "./member-authority.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** How many nodes' words on who leads are remembered. */
const witnessesMax = 100;
/** Of so many views in a row that name nobody the instants are remembered: they are a second apart, and an interval is what matters. */
const nobodyMax = 16;

/**
 * The newest word on who leads: of all nodes that were asked for the cluster document, by when they were asked (design.md, rule 4).
 * @returns `undefined` where nobody was asked
 */
export function newestView(cluster: ClusterState): WitnessView | undefined {
  let newest: WitnessView | undefined;
  for (const view of cluster.leaderViews.values()) {
    if (view.sentAtMs > (newest?.sentAtMs ?? -Infinity)) newest = view;
  }
  return newest;
}

/**
 * The views that count at an instant (design.md, rule 2): the newest of each rightly identified witness, while it is young enough. A
 * witness's database system is not asked after: which is the right one is what the views decide.
 */
export function countingViews(cluster: ClusterState, policy: HealthPolicy, nowMs: number): readonly LeaderView[] {
  const views: LeaderView[] = [];
  for (const [witness, view] of cluster.leaderViews) {
    const { names, namesAt, sentAtMs, answeredAtMs } = view;
    if (nowMs - sentAtMs >= policy.viewMaxAgeMs || !isIdentified(cluster, witness, policy)) continue;
    const nobodySinceMs = nobodySince(view, policy.intervalMs);
    views.push({ witness, names, namesAt, requestedAtMs: sentAtMs, answeredAtMs, nobodySinceMs });
  }
  return views;
}

/** Whether every view that counts names the node. */
export function isConfirmed(cluster: ClusterState, holder: string, { policy, nowMs }: Context): boolean {
  for (const { names, sentAtMs } of cluster.leaderViews.values()) {
    if (names !== holder && nowMs - sentAtMs < policy.viewMaxAgeMs) return false;
  }
  return true;
}

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/**
 * Takes in a view: the newest of each node that was asked. Names come and go with the member list, so the oldest leave.
 * @param view whose it is, and when it was requested and recorded, in ms of our clock
 */
export function withView(state: ClusterState, cluster: ClusterDocument, view: ViewInstants): ClusterState {
  const { witness, sentAtMs, nowMs } = view;
  const before = state.leaderViews.get(witness);
  if (before !== undefined && before.sentAtMs > sentAtMs) return state;
  const named = namedNode(state, cluster);
  const nobodyAtMs = cluster.leader === null ? [...(before?.nobodyAtMs ?? []), sentAtMs].slice(-nobodyMax) : [];
  const witnessView: WitnessView = {
    leader: named?.member ?? cluster.leader,
    names: named?.name ?? cluster.leader,
    timeline: cluster.leaderTimeline,
    sentAtMs,
    answeredAtMs: nowMs,
    nobodyAtMs,
    namesAt: cluster.leaderApi,
    addresses: addressesOf(cluster.members),
  };
  const others = [...state.leaderViews].filter(([other]) => other !== witness);
  const failedViews = without(state.failedViews, witness);
  return { ...state, leaderViews: new Map([...others.slice(-witnessesMax), [witness, witnessView]]), failedViews };
}

/** Takes in that a node's cluster document could not be had. Only a known node's: of a seed's nothing hangs on it. */
export function withFailedView(cluster: ClusterState, witness: string, sentAtMs: number): ClusterState {
  const newestMs = Math.max(
    cluster.leaderViews.get(witness)?.sentAtMs ?? -Infinity,
    cluster.failedViews.get(witness) ?? -Infinity,
  );
  if (!cluster.index.has(witness) || newestMs >= sentAtMs) return cluster;
  const others = [...cluster.failedViews].filter(([other]) => other !== witness);
  return { ...cluster, failedViews: new Map([...others.slice(-witnessesMax), [witness, sentAtMs]]) };
}

interface ViewInstants {
  readonly witness: string;
  readonly sentAtMs: number;
  readonly nowMs: number;
}

/** The node that a document names as the leader: by its member name, else by its API address, else by the name it has here. */
function namedNode(
  { nodes }: ClusterState,
  { leader, leaderApi }: ClusterDocument,
): { name: string; member: string } | undefined {
  if (leader === null) return undefined;
  const by =
    nodes.find(({ node }) => node.member === leader) ??
    nodes.find(({ node }) => leaderApi !== null && node.api === leaderApi) ??
    nodes.find(({ node }) => node.name === leader);
  return by?.node;
}

/** When a view of at least one interval before the newest was requested that named nobody as all since did; `null` where there is none. */
function nobodySince({ nobodyAtMs, sentAtMs }: WitnessView, intervalMs: number): number | null {
  return nobodyAtMs.findLast((atMs) => atMs <= sentAtMs - intervalMs) ?? null;
}

/** Whether a node is the one that is meant, by its own report: it has to have one. */
export function isIdentified(cluster: ClusterState, witness: string, { guards }: HealthPolicy): boolean {
  const observation = nodeNamed(cluster, witness);
  if (observation === undefined || observation.report === null) return false;
  return (
    !guards.sameSystem ||
    !(isOutOfScope(cluster, observation.report) || isMisaddressed(observation.node, observation.report))
  );
}

function without(map: ReadonlyMap<string, number>, key: string): ReadonlyMap<string, number> {
  return map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map;
}
