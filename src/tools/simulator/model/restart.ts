import { type Cluster, modelHoldsLock } from "./cluster.ts";
import type { SimulatorJson, SimulatorObject } from "./json.ts";
import { beginTransition } from "./transitions.ts";
import type { SimulatedNode } from "./node.ts";
import { type CallOutcome, reply } from "./outcome.ts";
import { truthy } from "./settings.ts";
import { parseSeconds } from "./size.ts";
import { parseSchedule } from "./timestamp.ts";
import { databaseVersion } from "./version.ts";

/** The default time limit of a restart (Patroni: primary_start_timeout), in ms. */
const startTimeoutMs = 300_000;

/**
 * `POST /restart`: 200 restarted, 202 scheduled, 400 for an invalid filter, 409 if another is scheduled, 422 for an
 * invalid time, 500 for a schedule while paused, 503 if the filters do not match or the time limit passed (Patroni
 * 4.1.4 api.py, do_POST_restart).
 */
export function restartPostgres(cluster: Cluster, node: SimulatedNode, body: SimulatorObject): CallOutcome {
  if (cluster.settings.pause && Object.hasOwn(body, "schedule"))
    return reply(500, "Can't schedule restart in the paused state");
  let atMs: number | undefined;
  for (const [key, value] of Object.entries(body)) {
    if (key === "schedule") {
      const schedule = parseSchedule(value, "restart", cluster.nowMs);
      if (schedule.kind === "invalid") return reply(schedule.status, schedule.text);
      atMs = schedule.atMs;
    } else {
      const problem = filterError(key, value);
      if (problem !== undefined) return reply(400, problem);
    }
  }
  const { schedule: _, ...filters } = body;
  if (atMs === undefined) return restartNow(cluster, node, filters);
  if (node.scheduledRestart !== undefined) return reply(409, "Another restart is already scheduled");
  node.scheduledRestart = { atMs, filters };
  node.nextLoopAtMs = cluster.nowMs;
  return reply(202, "Restart scheduled");
}

/** `DELETE /restart`: 200 if a scheduled one was removed, 404 if there was none. */
export function cancelRestart(cluster: Cluster, node: SimulatedNode): CallOutcome {
  if (node.scheduledRestart === undefined) return reply(404, "no restarts are scheduled");
  node.scheduledRestart = undefined;
  node.nextLoopAtMs = cluster.nowMs;
  return reply(200, "scheduled restart deleted");
}

/** `POST /reinitialize`: 200 if it started; 503 without a leader, on the leader, and on a busy node unless forced. */
export function reinitializeReplica(cluster: Cluster, node: SimulatedNode, body: SimulatorObject): CallOutcome {
  if (cluster.lock === undefined) return reply(503, "Cluster has no leader, can not reinitialize");
  if (modelHoldsLock(cluster, node)) return reply(503, "I am the leader, can not reinitialize");
  if (node.transition !== undefined && !truthy(body["force"]))
    return reply(503, `${actionOf(node.transition.kind)} already in progress`);
  beginTransition(cluster, node, "wiping");
  node.role = "replica";
  node.nextLoopAtMs = cluster.nowMs;
  return reply(200, "reinitialize started");
}

/** Returns whether the filters of a restart match the node: its role, a pending restart, an older database. */
export function restartMatches(node: SimulatedNode, filters: SimulatorObject): boolean {
  const { role } = filters;
  const version = filters["postgres_version"] ?? filters["db_version"];
  if (typeof role === "string" && role !== node.role) return false;
  if (typeof version === "string" && databaseVersion >= (versionNumber(version) ?? 0)) return false;
  // Only its presence counts: real nodes ignore the value.
  return !Object.hasOwn(filters, "restart_pending") || node.pendingRestart.size > 0;
}

function restartNow(cluster: Cluster, node: SimulatedNode, filters: SimulatorObject): CallOutcome {
  if (!restartMatches(node, filters)) return reply(503, "restart conditions are not satisfied");
  if (node.transition !== undefined) return reply(503, `${actionOf(node.transition.kind)} already in progress`);
  beginTransition(cluster, node, "restarting");
  const { transition } = node;
  node.nextLoopAtMs = cluster.nowMs;
  const poll = (): { status: number; text: string } | undefined => {
    if (node.transition === transition) return undefined;
    return node.state === "running"
      ? { status: 200, text: "restarted successfully" }
      : { status: 503, text: "restart failed" };
  };
  const timeout = filters["timeout"];
  const timeoutMs = timeout === undefined ? startTimeoutMs : (secondsOf(timeout) ?? 0) * 1000;
  return {
    kind: "wait",
    poll,
    untilMs: cluster.nowMs + timeoutMs,
    timeoutReply: { status: 503, text: "postgres is still starting" },
  };
}

function filterError(key: string, value: SimulatorJson): string | undefined {
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
      return (secondsOf(value) ?? 0) > 0 ? undefined : "Timeout should be a positive number of seconds";
    }
    case "restart_pending":
      return undefined;
    default:
      return `Unknown filter for the scheduled restart: ${key}`;
  }
}

function secondsOf(value: SimulatorJson): number | undefined {
  return typeof value === "number" || typeof value === "string" ? parseSeconds(String(value)) : undefined;
}

/** Converts `15.2` to 150002 and `9.6.3` to 90603; `undefined` for anything else. */
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
