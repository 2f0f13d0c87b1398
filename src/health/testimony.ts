import type { ClusterDocument } from "../cluster/cluster-document.ts";
import type { ClusterPart, Testimony } from "../cluster/snapshot.ts";
import { isMisaddressed, isOutOfScope } from "./identity.ts";
import type { LeaderView } from "./leadership.ts";
import { addressesOf } from "./member-authority.ts";
import type { Settings } from "./settings.ts";

/** How many nodes' words on who leads are remembered. */
const witnessesMax = 100;
/** Of so many views in a row that name nobody the instants are remembered: they are a second apart, and an interval is what matters. */
const nobodyMax = 16;

/**
 * The newest word on who leads: of all nodes that were asked for the cluster document, by when they were asked (design.md, rule 4).
 * @returns `undefined` where nobody was asked
 */
export function newestTestimony(part: ClusterPart): Testimony | undefined {
  let newest: Testimony | undefined;
  for (const testimony of part.testimonies.values()) {
    if (testimony.sentAtMs > (newest?.sentAtMs ?? -Infinity)) newest = testimony;
  }
  return newest;
}

/**
 * The views that count at an instant (design.md, rule 2): the newest of each rightly identified witness, while it is young enough. A
 * witness's database system is not asked after: which is the right one is what the views decide.
 */
export function countingViews(part: ClusterPart, settings: Settings, nowMs: number): readonly LeaderView[] {
  const views: LeaderView[] = [];
  for (const [witness, testimony] of part.testimonies) {
    const { names, namesAt, sentAtMs, answeredAtMs } = testimony;
    if (nowMs - sentAtMs >= settings.viewMaxAgeMs || !isIdentified(part, witness, settings)) continue;
    const nobodySinceMs = nobodySince(testimony, settings.intervalMs);
    views.push({ witness, names, namesAt, requestedAtMs: sentAtMs, answeredAtMs, nobodySinceMs });
  }
  return views;
}

/** Whether every view that counts names the node. */
export function isConfirmed(part: ClusterPart, holder: string, { settings, nowMs }: Context): boolean {
  for (const { names, sentAtMs } of part.testimonies.values()) {
    if (names !== holder && nowMs - sentAtMs < settings.viewMaxAgeMs) return false;
  }
  return true;
}

interface Context {
  readonly settings: Settings;
  readonly nowMs: number;
}

/**
 * Takes in a view: the newest of each node that was asked. Names come and go with the member list, so the oldest leave.
 * @param view whose it is, and when it was requested and recorded, in ms of our clock
 */
export function withView(part: ClusterPart, cluster: ClusterDocument, view: ViewInstants): ClusterPart {
  const { witness, sentAtMs, nowMs } = view;
  const before = part.testimonies.get(witness);
  if (before !== undefined && before.sentAtMs > sentAtMs) return part;
  const named = namedNode(part, cluster);
  const nobodyAtMs = cluster.leader === null ? [...(before?.nobodyAtMs ?? []), sentAtMs].slice(-nobodyMax) : [];
  const testimony: Testimony = {
    leader: named?.member ?? cluster.leader,
    names: named?.name ?? cluster.leader,
    timeline: cluster.leaderTimeline,
    sentAtMs,
    answeredAtMs: nowMs,
    nobodyAtMs,
    namesAt: cluster.leaderApi,
    addresses: addressesOf(cluster.members),
  };
  const others = [...part.testimonies].filter(([other]) => other !== witness);
  const failedViews = without(part.failedViews, witness);
  return { ...part, testimonies: new Map([...others.slice(-witnessesMax), [witness, testimony]]), failedViews };
}

/** Takes in that a node's cluster document could not be had. Only a known node's: of a seed's nothing hangs on it. */
export function withFailedView(part: ClusterPart, witness: string, sentAtMs: number): ClusterPart {
  const newestMs = Math.max(part.testimonies.get(witness)?.sentAtMs ?? -Infinity, part.failedViews.get(witness) ?? -Infinity);
  if (!part.index.has(witness) || newestMs >= sentAtMs) return part;
  const others = [...part.failedViews].filter(([other]) => other !== witness);
  return { ...part, failedViews: new Map([...others.slice(-witnessesMax), [witness, sentAtMs]]) };
}

interface ViewInstants {
  readonly witness: string;
  readonly sentAtMs: number;
  readonly nowMs: number;
}

/** The node that a document names as the leader: by its member name, else by its API address, else by the name it has here. */
function namedNode({ nodes }: ClusterPart, { leader, leaderApi }: ClusterDocument): { name: string; member: string } | undefined {
  if (leader === null) return undefined;
  const by =
    nodes.find(({ node }) => node.member === leader) ??
    nodes.find(({ node }) => leaderApi !== null && node.api === leaderApi) ??
    nodes.find(({ node }) => node.name === leader);
  return by?.node;
}

/** When a view of at least one interval before the newest was requested that named nobody as all since did; `null` where there is none. */
function nobodySince({ nobodyAtMs, sentAtMs }: Testimony, intervalMs: number): number | null {
  return nobodyAtMs.findLast((atMs) => atMs <= sentAtMs - intervalMs) ?? null;
}

/** Whether a node is the one that is meant, by its own report: it has to have one. */
export function isIdentified(part: ClusterPart, witness: string, { guards }: Settings): boolean {
  const observation = part.nodes[part.index.get(witness) ?? -1];
  if (observation === undefined || observation.report === null) return false;
  return !guards.sameSystem || !(isOutOfScope(part, observation.report) || isMisaddressed(observation.node, observation.report));
}

function without(map: ReadonlyMap<string, number>, key: string): ReadonlyMap<string, number> {
  return map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map;
}
