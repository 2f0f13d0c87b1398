import type { SimulatorObject } from "./json.ts";
import type { SimulatedNode } from "./node.ts";
import { readSettings, type SimulatorSettings } from "./settings.ts";

/** The speeds of the model. */
export interface Timing {
  /**
   * About the time from the request to the new leader's first write. A start or restart of a database takes half of
   * it.
   */
  readonly switchoverMs: number;
  readonly walBytesPerSecond: number;
}

/**
 * PostgreSQL's wal_receiver_timeout and wal_sender_timeout: how long a silent connection still counts as open, in ms.
 */
export const connectionTimeoutMs = 60_000;

/** The leader lock: its holder, and when it was last renewed. It expires `ttl` later. */
export interface Lock {
  readonly holder: string;
  readonly renewedAtMs: number;
}

/** A requested switchover or failover that is not yet done (Patroni's failover key). */
export interface FailoverKey {
  readonly leader: string | undefined;
  readonly candidate: string | undefined;
  readonly scheduledAtMs: number | undefined;
}

/** One row of `/history`: the timeline that ended, its last position, the reason, the time, and the next leader. */
export type HistoryRow = readonly [timeline: number, lsn: number, reason: string, at: string, leader: string];

/** The whole model: the content of the DCS, and the nodes. Its clock is `nowMs`, which only `advance` moves. */
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
  /** The leader's position as last written to the DCS (Patroni: status.last_lsn). */
  leaderLsn: number;
  /** The names in the synchronous-standby key. */
  sync: readonly string[];
}

/** The properties of a new cluster. */
export interface ClusterSpec {
  readonly scope: string;
  readonly nodes: number;
  readonly nowMs: number;
  readonly config: SimulatorObject;
  readonly timing: Timing;
}

const firstDatabasePort = 15_431;
const firstLsn = 0x3000148;

/** Creates a cluster that has run for a minute: pg1 leads on timeline 1, the others stream from it. */
export function createCluster(spec: ClusterSpec): Cluster {
  const settings = readSettings(spec.config);
  const nodes = Array.from({ length: spec.nodes }, (_, index) => createNode(index, settings, spec.nowMs));
  return {
    scope: spec.scope,
    systemIdentifier: systemIdentifierOf(spec.scope),
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

/** Like that of a real cluster, which no other cluster has. It depends on the scope alone, so that runs are alike. */
function systemIdentifierOf(scope: string): string {
  const hash = Array.from(scope).reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 32, 0);
  return String(7_710_498_475_349_966_744n + BigInt(hash));
}

/** Returns the node that holds the leader lock. */
export function leaderOf(cluster: Cluster): SimulatedNode | undefined {
  return cluster.lock === undefined ? undefined : simulatedNodeNamed(cluster, cluster.lock.holder);
}

/** Returns whether this node holds the leader lock. */
export function modelHoldsLock(cluster: Cluster, node: SimulatedNode): boolean {
  return cluster.lock?.holder === node.name;
}

/** Returns the node of this name. */
export function simulatedNodeNamed(cluster: Cluster, name: string): SimulatedNode | undefined {
  return cluster.nodes.find((node) => node.name === name);
}

/** Returns the nodes whose member keys have not expired: a node that is silent for `ttl` leaves the list. */
export function membersOf(cluster: Cluster): readonly SimulatedNode[] {
  const oldest = cluster.nowMs - cluster.settings.ttlMs;
  return cluster.nodes.filter((node) => node.member !== undefined && node.member.writtenAtMs > oldest);
}

/** Makes every node run its HA loop within `delayMs`, as a change of the leader key or of the configuration does. */
export function wakeLoops(cluster: Cluster, delayMs: number): void {
  for (const node of cluster.nodes) node.nextLoopAtMs = Math.min(node.nextLoopAtMs, cluster.nowMs + delayMs);
}

function createNode(index: number, settings: SimulatorSettings, nowMs: number): SimulatedNode {
  const leads = index === 0;
  const leadingRole = settings.standbyCluster ? "standby_leader" : "primary";
  return {
    name: `pg${String(index + 1)}`,
    databasePort: firstDatabasePort + index,
    // The tags of the recorded cluster: every third node has a rank, the others have `clonefrom`.
    tags: index % 3 === 2 ? { zone: "c", rank: 3 } : { zone: index % 3 === 0 ? "a" : "b", clonefrom: true },
    apiUrl: "",
    alive: true,
    frozenAtMs: undefined,
    api: { kind: "none" },
    detachedAtMs: undefined,
    lagBytes: undefined,
    claimsLock: false,
    state: "running",
    role: leads ? leadingRole : "replica",
    timeline: 1,
    following: leads ? undefined : "pg1",
    receivedLsn: firstLsn,
    replayedLsn: firstLsn,
    replayedAtMs: leads ? undefined : nowMs,
    startedAtMs: nowMs - 60_000,
    transition: undefined,
    lastLoopAtMs: nowMs,
    nextLoopAtMs: nowMs,
    parameters: settings.parameters,
    pendingRestart: new Map(),
    scheduledRestart: undefined,
    member: undefined,
  };
}
