import type { SimulatorObject } from "./json.ts";
import type { SimulatedNode } from "./node.ts";
import { readSettings, type SimulatorSettings } from "./settings.ts";

/** How fast things move in the model. */
export interface Timing {
  /** From the request to the new leader's first write, about; a start or restart of a database takes half of it. */
  readonly switchoverMs: number;
  readonly walBytesPerSecond: number;
}

/** PostgreSQL's wal_receiver_timeout and wal_sender_timeout: how long a silent connection is still believed in. */
export const connectionTimeoutMs = 60_000;

/** A leader lock: who holds it, and when it was last renewed. It expires `ttl` later. */
export interface Lock {
  readonly holder: string;
  readonly renewedAtMs: number;
}

/** A switchover or failover asked for and not yet done (Patroni's failover key). */
export interface FailoverKey {
  readonly leader: string | undefined;
  readonly candidate: string | undefined;
  readonly scheduledAtMs: number | undefined;
}

/** One row of `/history`: the timeline that ended, where, why, when, and who led on. */
export type HistoryRow = readonly [timeline: number, lsn: number, reason: string, at: string, leader: string];

/** The whole model: what the configuration store holds, and the nodes. Its time is `nowMs` and moves only by `advance`. */
export interface Cluster {
  readonly scope: string;
  readonly systemIdentifier: string;
  readonly timing: Timing;
  readonly nodes: readonly SimulatedNode[];
  nowMs: number;
  config: SimulatorObject;
  settings: SimulatorSettings;
  lock: Lock | undefined;
  failover: FailoverKey | undefined;
  history: readonly HistoryRow[];
  timeline: number;
  /** The leader's position as the store last learned it (Patroni: status.last_lsn). */
  leaderLsn: number;
  /** The names in the synchronous-standby key. */
  sync: readonly string[];
}

/** What a new cluster is made of. */
export interface ClusterSpec {
  readonly scope: string;
  readonly nodes: number;
  readonly nowMs: number;
  readonly config: SimulatorObject;
  readonly timing: Timing;
}

const firstDatabasePort = 15_431;
const firstLsn = 0x3000148;

/** Makes a cluster that has been running for a minute: pg1 leads on timeline 1, the others stream from it. */
export function createCluster(spec: ClusterSpec): Cluster {
  const settings = readSettings(spec.config);
  const nodes = Array.from({ length: spec.nodes }, (_, index) => createNode(index, settings, spec.nowMs));
  return {
    scope: spec.scope,
    systemIdentifier: "7710498475349966744",
    timing: spec.timing,
    nodes,
    nowMs: spec.nowMs,
    config: spec.config,
    settings,
    lock: { holder: "pg1", renewedAtMs: spec.nowMs },
    failover: undefined,
    history: [],
    timeline: 1,
    leaderLsn: firstLsn,
    sync: [],
  };
}

/** The node that holds the leader lock. */
export function leaderOf(cluster: Cluster): SimulatedNode | undefined {
  return cluster.lock === undefined ? undefined : nodeNamed(cluster, cluster.lock.holder);
}

/** Says whether this node holds the leader lock. */
export function modelHoldsLock(cluster: Cluster, node: SimulatedNode): boolean {
  return cluster.lock?.holder === node.name;
}

/** The node of this name. */
export function nodeNamed(cluster: Cluster, name: string): SimulatedNode | undefined {
  return cluster.nodes.find((node) => node.name === name);
}

/** The nodes whose member keys have not expired: a node that is silent for `ttl` leaves the list. */
export function membersOf(cluster: Cluster): readonly SimulatedNode[] {
  const oldest = cluster.nowMs - cluster.settings.ttlMs;
  return cluster.nodes.filter((node) => node.member !== undefined && node.member.writtenAtMs > oldest);
}

/** Lets every waking node run its HA loop soon, as a change of the leader key or of the configuration does. */
export function wakeLoops(cluster: Cluster, delayMs: number): void {
  for (const node of cluster.nodes) node.nextLoopAtMs = Math.min(node.nextLoopAtMs, cluster.nowMs + delayMs);
}

function createNode(index: number, settings: SimulatorSettings, nowMs: number): SimulatedNode {
  const leads = index === 0;
  const leadingRole = settings.standbyCluster ? "standby_leader" : "primary";
  return {
    name: `pg${String(index + 1)}`,
    databasePort: firstDatabasePort + index,
    // The recorded cluster's tags: every third node carries a rank, the others may be cloned from.
    tags: index % 3 === 2 ? { zone: "c", rank: 3 } : { zone: index % 3 === 0 ? "a" : "b", clonefrom: true },
    apiUrl: "",
    alive: true,
    frozenAtMs: undefined,
    api: { kind: "none" },
    detachedAtMs: undefined,
    lagBytes: undefined,
    state: "running",
    role: leads ? leadingRole : "replica",
    timeline: 1,
    following: leads ? undefined : "pg1",
    receivedLsn: firstLsn,
    replayedLsn: firstLsn,
    replayedAtMs: leads ? undefined : nowMs,
    startedAtMs: nowMs - 60_000,
    motion: undefined,
    lastLoopAtMs: nowMs,
    nextLoopAtMs: nowMs,
    parameters: settings.parameters,
    pendingRestart: new Map(),
    scheduledRestart: undefined,
    member: undefined,
  };
}
