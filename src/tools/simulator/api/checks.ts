import { isJsonObject, type SimulatorObject } from "../model/json.ts";
import { truthy } from "../model/settings.ts";
import { parseSize } from "../model/size.ts";

/** What a node knows when it answers a health check. */
export interface ModelLeadership {
  /** Its status document. */
  readonly report: SimulatorObject;
  readonly holdsLock: boolean;
  readonly standbyCluster: boolean;
  /** Whether it could read the DCS. */
  readonly seesCluster: boolean;
  /**
   * The leader's position in bytes: the greater of the one in the DCS and that of its own receiver; 0 if both are
   * unknown.
   */
  readonly leaderLsn: number;
}

/** The status of a health check. */
export type CheckStatus = 200 | 503;

/** The query of a health check: the first value of each key, without empty values (Python's parse_qs). */
export type CheckQuery = ReadonlyMap<string, string>;

/**
 * Returns the status of a health check as a real node does: the path matches by substring in this order, an unknown
 * one is 503 (Patroni 4.1.4 api.py, do_GET).
 */
export function healthCheck(path: string, query: CheckQuery, leadership: ModelLeadership): CheckStatus {
  const route = path === "/" ? "/primary" : path;
  const fits = fitsFor(query, leadership);
  if (/standby_leader|standby-leader/.test(route)) return status(fits.standbyLeader);
  if (route.includes("leader")) return status(fits.leader);
  if (/master|primary|read-write/.test(route)) return status(fits.primary);
  return status(isFit(route, fits, leadership) && tagsMatch(query, leadership.report["tags"]));
}

/**
 * Returns the status of `/readiness`: the lock holder is ready; another node if it streams and lags at most `lag`
 * (default: `maximum_lag_on_failover`).
 */
export function readiness(query: CheckQuery, leadership: ModelLeadership, maximumLagOnFailover: number): CheckStatus {
  if (leadership.holdsLock) return 200;
  const { report } = leadership;
  if (report["state"] !== "running" || report["replication_state"] !== "streaming") return 503;
  if (!leadership.seesCluster && leadership.leaderLsn === 0) return status(report["failsafe_mode_is_active"] === true);
  const location = position(report, query.get("mode") === "write" ? "received_location" : "replayed_location");
  return status(leadership.leaderLsn - location <= (parseSize(query.get("lag") ?? "") ?? maximumLagOnFailover));
}

/** What `/liveness` depends on. Durations in ms. */
export interface Heartbeat {
  /** Since the last HA loop. */
  readonly silentMs: number;
  readonly loopWaitMs: number;
  readonly ttlMs: number;
  readonly pause: boolean;
  /** The node runs as primary. */
  readonly isPrimary: boolean;
}

/**
 * Returns the status of `/liveness`: 200 if paused, or the next loop is overdue by less than `ttl` (a running
 * primary) or twice that.
 */
export function liveness(heartbeat: Heartbeat): CheckStatus {
  const graceMs = heartbeat.ttlMs * (heartbeat.isPrimary ? 1 : 2);
  return status(heartbeat.pause || heartbeat.silentMs - heartbeat.loopWaitMs < graceMs);
}

interface Fits {
  readonly leader: boolean;
  readonly primary: boolean;
  readonly standbyLeader: boolean;
  readonly replica: boolean;
}

function fitsFor(query: CheckQuery, leadership: ModelLeadership): Fits {
  const { report, holdsLock, standbyCluster } = leadership;
  const role = report["role"];
  const replica = isReplicaFit(query, leadership);
  if (!leadership.seesCluster && report["pause"] === true) {
    const primary = role === "primary";
    const standbyLeader = role === "standby_leader";
    return { leader: primary || standbyLeader, primary, standbyLeader, replica };
  }
  return {
    leader: holdsLock,
    primary: holdsLock && !standbyCluster,
    standbyLeader: holdsLock && standbyCluster && (role === "replica" || role === "standby_leader"),
    replica: replica && !(holdsLock && standbyCluster),
  };
}

function isReplicaFit(query: CheckQuery, { report, leaderLsn }: ModelLeadership): boolean {
  const tags = report["tags"];
  const limit = parseSize(query.get("lag") ?? "") ?? Infinity;
  const isLagging = leaderLsn > 0 && leaderLsn > position(report, "replayed_location") + limit;
  const wanted = query.get("replication_state");
  const isExcluded = isJsonObject(tags) && truthy(tags["noloadbalance"]);
  const isReplica = report["role"] === "replica" && report["state"] === "running";
  return isReplica && !isExcluded && !isLagging && (wanted === undefined || report["replication_state"] === wanted);
}

/** The routes that check tags. */
function isFit(path: string, fits: Fits, { report, seesCluster }: ModelLeadership): boolean {
  const isSync = report["sync_standby"] === true;
  const isQuorum = report["quorum_standby"] === true;
  const leads = fits.primary || fits.standbyLeader;
  if (path.includes("replica")) return fits.replica;
  if (path.includes("read-only") && !path.includes("sync") && !path.includes("quorum")) return leads || fits.replica;
  if (path.includes("health")) return report["state"] === "running";
  if (!seesCluster) return false;
  switch (path) {
    case "/sync":
    case "/synchronous":
      return isSync && fits.replica;
    case "/quorum":
      return isQuorum && fits.replica;
    case "/async":
    case "/asynchronous":
      return !isSync && !isQuorum && fits.replica;
    case "/read-only-quorum":
      return leads || (isQuorum && fits.replica);
    case "/read-only-sync":
    case "/read-only-synchronous":
      return leads || (isSync && fits.replica);
    default:
      return false;
  }
}

function tagsMatch(query: CheckQuery, tags: unknown): boolean {
  const known = isJsonObject(tags) ? tags : {};
  return [...query].every(([key, wanted]) => {
    if (!key.startsWith("tag_")) return true;
    const name = key.slice("tag_".length);
    const value = Object.hasOwn(known, name) ? known[name] : undefined;
    if (value === undefined || value === null) return false;
    return (typeof value === "string" ? value : JSON.stringify(value).toLowerCase()) === wanted;
  });
}

function position(report: SimulatorObject, field: string): number {
  const xlog = report["xlog"];
  const value = isJsonObject(xlog) ? xlog[field] : undefined;
  return typeof value === "number" ? value : 0;
}

function status(yes: boolean): CheckStatus {
  return yes ? 200 : 503;
}
