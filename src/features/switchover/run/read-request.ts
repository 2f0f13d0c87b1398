import { parseDuration } from "../../../core/cluster/values/duration.ts";
import { type JsonObject, nameOf } from "../../../core/cluster/values/json.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import { foreignScopeText } from "../../../core/health/evidence/node/foreign-scope.ts";
import type { SwitchoverRequest } from "./plan-of.ts";

/** The keys of the body of `POST /clusters/{cluster}/switchover` with `"seamless": true`. */
const keys = ["seamless", "leader", "candidate", "deadline", "route_wait", "unguarded"];
const deadline = { shortestMs: 1_000, longestMs: 300_000, defaultMs: 15_000 };
const routeWait = { shortestMs: 0, longestMs: 60_000, defaultMs: 1_000 };

/**
 * Reads the request for a seamless switchover. Nodes may be called by their names or by those of their members.
 * @returns the request; or a sentence that says what is wrong with it
 */
export function readSwitchoverRequest(
  body: JsonObject,
  cluster: ClusterState,
  isDryRun: boolean,
): SwitchoverRequest | { readonly problem: string } {
  const unknown = Object.keys(body).find((key) => !keys.includes(key));
  if (unknown !== undefined) return problem("body", `one of the keys ${keys.join(", ")}`, unknown);
  const nodes: (string | null)[] = [];
  for (const key of ["leader", "candidate"] as const) {
    const given = body[key] ?? null;
    if (given === null) {
      nodes.push(null);
      continue;
    }
    const found = cluster.nodes.find(({ node }) => node.name === given || node.member === given);
    if (found === undefined) return problem(key, namesText(cluster), given);
    nodes.push(found.node.name);
  }
  const [leader = null, candidate = null] = nodes;
  if (leader !== null && leader === candidate) return problem("candidate", "another node than the leader", candidate);
  const deadlineMs = deadlineOf(body["deadline"]);
  if (deadlineMs === null) return problem("deadline", "a duration from 1s to 5min", body["deadline"]);
  const routeWaitMs = durationOf(body["route_wait"], routeWait);
  if (routeWaitMs === null) return problem("route_wait", "a duration up to 1min", body["route_wait"]);
  const isUnguarded = body["unguarded"] ?? false;
  if (typeof isUnguarded !== "boolean") return problem("unguarded", "true or false", isUnguarded);
  const start = "request";
  return {
    cluster: cluster.name,
    leader,
    candidate,
    isDryRun,
    start,
    restart: null,
    isUnguarded,
    deadlineMs,
    routeWaitMs,
  };
}

/** The deadline that a request gives, in ms; `null` if it cannot be read, or is out of bounds. */
export function deadlineOf(given: unknown): number | null {
  return durationOf(given, deadline);
}

/** Which nodes may be named, or why none may be. */
function namesText(cluster: ClusterState): string {
  const names = cluster.nodes.map(({ node }) => node.name);
  if (names.length > 0) return `one of ${names.join(", ")}`;
  const scope = foreignScopeText(cluster);
  return `a node of the cluster, of which none is known${scope === null ? "" : ` (${scope})`}`;
}

/** The request that follows from the announcement that a leader is about to stop. */
export function announcedRequest(cluster: string, leader: string): SwitchoverRequest {
  return {
    cluster,
    leader,
    candidate: null,
    isDryRun: false,
    start: "announced",
    restart: null,
    isUnguarded: false,
    deadlineMs: deadline.defaultMs,
    routeWaitMs: routeWait.defaultMs,
  };
}

/** The request that follows from the loss of a leader. @param deadlineMs how long clients are held at most, in ms */
export function lossRequest(cluster: string, leader: string, deadlineMs: number): SwitchoverRequest {
  return { ...announcedRequest(cluster, leader), start: "loss", deadlineMs };
}

function durationOf(
  given: unknown,
  {
    shortestMs,
    longestMs,
    defaultMs,
  }: { readonly shortestMs: number; readonly longestMs: number; readonly defaultMs: number },
): number | null {
  if (given === undefined || given === null) return defaultMs;
  const ms = typeof given === "string" ? parseDuration(given) : undefined;
  return ms === undefined || ms < shortestMs || ms > longestMs ? null : ms;
}

function problem(key: string, allowed: string, given: unknown): { readonly problem: string } {
  return { problem: `Cannot read the request for a switchover: ${key} must be ${allowed}, got ${gotText(given)}` };
}

/** What a request has given, as messages name it. */
export function gotText(given: unknown): string {
  return nameOf(given) ?? JSON.stringify(given ?? null).slice(0, 80);
}
