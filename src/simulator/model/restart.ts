import { type Cluster, modelHoldsLock } from "./cluster.ts";
import { databaseVersion } from "../api/documents.ts";
import type { SimulatorJson, SimulatorObject } from "./json.ts";
import { begin } from "./transitions.ts";
import type { SimulatedNode } from "./node.ts";
import { type CallOutcome, reply } from "./outcome.ts";
import { truthy } from "./settings.ts";
import { parseSeconds } from "./size.ts";
import { parseSchedule } from "./timestamp.ts";

/** How long a restart may take when the call does not say (Patroni: primary_start_timeout). */
const startTimeoutMs = 300_000;

/**
 * `POST /restart`: 200 restarted, 202 scheduled, 400 a bad filter, 409 another is scheduled, 422 a bad time, 500 scheduling while paused,
 * 503 the conditions do not hold or it did not come up in time (Patroni 4.1.4 api.py, do_POST_restart).
 */
export function restartPostgres(cluster: Cluster, node: SimulatedNode, body: SimulatorObject): CallOutcome {
  if (cluster.settings.pause && Object.hasOwn(body, "schedule"))
    return reply(500, "Can't schedule restart in the paused state");
  let atMs: number | undefined;
  for (const [key, value] of Object.entries(body)) {
    if (key === "schedule") {
      const schedule = parseSchedule(value, "restart", cluster.nowMs);
      if (schedule.kind === "refused") return reply(schedule.status, schedule.text);
      atMs = schedule.atMs;
    } else {
      const mistake = mistakeIn(key, value);
      if (mistake !== undefined) return reply(400, mistake);
    }
  }
  const { schedule: _, ...filters } = body;
  if (atMs === undefined) return restartNow(cluster, node, filters);
  if (node.scheduledRestart !== undefined) return reply(409, "Another restart is already scheduled");
  node.scheduledRestart = { atMs, filters };
  node.nextLoopAtMs = cluster.nowMs;
  return reply(202, "Restart scheduled");
}

/** `DELETE /restart`: 200 when a scheduled one was removed, 404 when there was none. */
export function cancelRestart(cluster: Cluster, node: SimulatedNode): CallOutcome {
  if (node.scheduledRestart === undefined) return reply(404, "no restarts are scheduled");
  node.scheduledRestart = undefined;
  node.nextLoopAtMs = cluster.nowMs;
  return reply(200, "scheduled restart deleted");
}

/** `POST /reinitialize`: 200 when it started; 503 without a leader, on the leader, and while the node is busy unless forced. */
export function reinitializeReplica(cluster: Cluster, node: SimulatedNode, body: SimulatorObject): CallOutcome {
  if (cluster.lock === undefined) return reply(503, "Cluster has no leader, can not reinitialize");
  if (modelHoldsLock(cluster, node)) return reply(503, "I am the leader, can not reinitialize");
  if (node.motion !== undefined && !truthy(body["force"]))
    return reply(503, `${actionOf(node.motion.kind)} already in progress`);
  begin(cluster, node, "wiping");
  node.role = "replica";
  node.nextLoopAtMs = cluster.nowMs;
  return reply(200, "reinitialize started");
}

/** Says whether the filters of a restart hold for this node: its role, a pending restart, an older database. */
export function restartMatches(node: SimulatedNode, filters: SimulatorObject): boolean {
  const { role } = filters;
  const version = filters["postgres_version"] ?? filters["db_version"];
  if (typeof role === "string" && role !== node.role) return false;
  if (typeof version === "string" && databaseVersion >= (versionNumber(version) ?? 0)) return false;
  // Its presence is what counts: real nodes do not look at the value.
  return !Object.hasOwn(filters, "restart_pending") || node.pendingRestart.size > 0;
}

function restartNow(cluster: Cluster, node: SimulatedNode, filters: SimulatorObject): CallOutcome {
  if (!restartMatches(node, filters)) return reply(503, "restart conditions are not satisfied");
  if (node.motion !== undefined) return reply(503, `${actionOf(node.motion.kind)} already in progress`);
  begin(cluster, node, "restarting");
  const { motion } = node;
  node.nextLoopAtMs = cluster.nowMs;
  const look = (): { status: number; text: string } | undefined => {
    if (node.motion === motion) return undefined;
    return node.state === "running"
      ? { status: 200, text: "restarted successfully" }
      : { status: 503, text: "restart failed" };
  };
  const timeout = filters["timeout"];
  const timeoutMs = timeout === undefined ? startTimeoutMs : (secondsIn(timeout) ?? 0) * 1000;
  return {
    kind: "wait",
    look,
    untilMs: cluster.nowMs + timeoutMs,
    late: { status: 503, text: "postgres is still starting" },
  };
}

function mistakeIn(key: string, value: SimulatorJson): string | undefined {
  switch (key) {
    case "role": {
      const isRole = value === "primary" || value === "standby_leader" || value === "replica";
      return isRole ? undefined : "PostgreSQL role should be either primary, standby_leader, or replica";
    }
    case "postgres_version":
    case "db_version": {
      const isVersion = typeof value === "string" && versionNumber(value) !== undefined;
      return isVersion ? undefined : `Invalid PostgreSQL version: ${JSON.stringify(value)}`;
    }
    case "timeout": {
      return (secondsIn(value) ?? 0) > 0 ? undefined : "Timeout should be a positive number of seconds";
    }
    case "restart_pending":
      return undefined;
    default:
      return `Unknown filter for the scheduled restart: ${key}`;
  }
}

function secondsIn(value: SimulatorJson): number | undefined {
  return typeof value === "number" || typeof value === "string" ? parseSeconds(String(value)) : undefined;
}

/** `15.2` as 150002, `9.6.3` as 90603; `undefined` when it is no version. */
function versionNumber(text: string): number | undefined {
  const match = /^(\d{1,2})\.(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const [, major = "", minor = "", patch] = match;
  const isOld = Number(major) < 10;
  if (isOld !== (patch !== undefined)) return undefined;
  return Number(major) * 10_000 + (isOld ? Number(minor) * 100 + Number(patch) : Number(minor));
}

function actionOf(kind: string): string {
  if (kind === "restarting") return "restart";
  return kind === "wiping" || kind === "copying" ? "reinitialize" : kind;
}
