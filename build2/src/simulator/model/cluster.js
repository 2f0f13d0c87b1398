import { readSettings } from "./settings.js";
/**
 * PostgreSQL's wal_receiver_timeout and wal_sender_timeout: how long a silent connection still counts as open, in ms.
 */
export const connectionTimeoutMs = 60_000;
const firstDatabasePort = 15_431;
const firstLsn = 0x3000148;
/** Creates a cluster that has run for a minute: pg1 leads on timeline 1, the others stream from it. */
export function createCluster(spec) {
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
/** Returns the node that holds the leader lock. */
export function leaderOf(cluster) {
    return cluster.lock === undefined ? undefined : simulatedNodeNamed(cluster, cluster.lock.holder);
}
/** Returns whether this node holds the leader lock. */
export function modelHoldsLock(cluster, node) {
    return cluster.lock?.holder === node.name;
}
/** Returns the node of this name. */
export function simulatedNodeNamed(cluster, name) {
    return cluster.nodes.find((node) => node.name === name);
}
/** Returns the nodes whose member keys have not expired: a node that is silent for `ttl` leaves the list. */
export function membersOf(cluster) {
    const oldest = cluster.nowMs - cluster.settings.ttlMs;
    return cluster.nodes.filter((node) => node.member !== undefined && node.member.writtenAtMs > oldest);
}
/** Makes every node run its HA loop within `delayMs`, as a change of the leader key or of the configuration does. */
export function wakeLoops(cluster, delayMs) {
    for (const node of cluster.nodes)
        node.nextLoopAtMs = Math.min(node.nextLoopAtMs, cluster.nowMs + delayMs);
}
function createNode(index, settings, nowMs) {
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
//# sourceMappingURL=cluster.js.map