import { type Answer, json } from "./answer.ts";
import type { SimulatedRequest } from "./request.ts";
import { type Cluster, simulatedNodeNamed } from "../model/cluster.ts";
import { type Fault, parseFault } from "../model/faults.ts";
import { isJsonObject, type SimulatorObject, parseSimulatorJson } from "../model/json.ts";
import { reportedLsn } from "../model/lsn.ts";
import type { ApiFault, SimulatedNode } from "../model/node.ts";

/** What `/sim` controls. It is served on every open port, whatever the fault of that node. */
export interface ControlContext {
  readonly cluster: Cluster;
  /** Injects a fault; resolves when it is in effect, so that the port of a killed node is closed. */
  readonly fault: (node: string, fault: Fault) => Promise<void>;
}

/**
 * Answers `GET /sim` (the model) and `POST /sim/{node}/{fault}` (200 with the model). An unknown node is 404, an
 * invalid fault or parameter 400, another method 405. Killing the last node with an open port is 409: no request
 * could revive it.
 */
export async function control({ cluster, fault }: ControlContext, request: SimulatedRequest): Promise<Answer> {
  const [, , name, action, ...rest] = request.path.split("/");
  if (name === undefined || name === "") {
    return request.method === "GET"
      ? json(200, modelDocument(cluster))
      : problem(405, `the method must be GET, got ${request.method}`);
  }
  if (request.method !== "POST") return problem(405, `the method must be POST, got ${request.method}`);
  const node = simulatedNodeNamed(cluster, name);
  const names = cluster.nodes.map((known) => known.name).join(", ");
  if (node === undefined) return problem(404, `the node must be one of ${names}, got "${name}"`);
  const parsed = parseFault(rest.length === 0 ? (action ?? "") : request.path, parametersOf(request));
  if (parsed.kind === "invalid") return problem(400, parsed.text);
  const isLast = cluster.nodes.filter((other) => other.alive).length === 1 && node.alive;
  if (parsed.fault.kind === "kill" && isLast)
    return problem(409, `${name} has the last open port, so no request could revive it`);
  await fault(name, parsed.fault);
  return json(200, modelDocument(cluster));
}

/** Returns the model as `GET /sim` shows it: the lock, the time, and every node with its faults. */
export function modelDocument(cluster: Cluster): SimulatorObject {
  const { lock, nowMs, settings } = cluster;
  return {
    scope: cluster.scope,
    now: new Date(nowMs).toISOString(),
    timeline: cluster.timeline,
    lock:
      lock === undefined
        ? null
        : { holder: lock.holder, expires_in_ms: Math.round(lock.renewedAtMs + settings.ttlMs - nowMs) },
    sync: cluster.sync,
    nodes: cluster.nodes.map(nodeDocument),
  };
}

function nodeDocument(node: SimulatedNode): SimulatorObject {
  return {
    name: node.name,
    api_url: node.apiUrl,
    faults: faultsOf(node),
    state: node.state,
    role: node.role,
    timeline: node.timeline,
    following: node.following ?? null,
    received: reportedLsn(node.receivedLsn),
    replayed: reportedLsn(node.replayedLsn),
    motion: node.transition?.kind ?? null,
  };
}

function faultsOf(node: SimulatedNode): SimulatorObject {
  return {
    ...(!node.alive && { kill: true }),
    ...(node.frozenAtMs !== undefined && { freeze: true }),
    ...(node.detachedAtMs !== undefined && { detach: true }),
    ...(node.lagBytes !== undefined && { lag: Number.isFinite(node.lagBytes) ? node.lagBytes : true }),
    ...apiFault(node.api),
  };
}

function apiFault(fault: ApiFault): SimulatorObject {
  switch (fault.kind) {
    case "none":
      return {};
    case "hang":
      return { hang: true };
    case "slow":
      return { slow: fault.ms };
    case "garbage":
      return { garbage: fault.style };
  }
}

/** Reads parameters from the query and the members of a JSON body. The query wins. */
function parametersOf(request: SimulatedRequest): ReadonlyMap<string, string> {
  const body = typeof request.body === "string" ? parseSimulatorJson(request.body) : undefined;
  const members = isJsonObject(body) ? Object.entries(body) : [];
  const fromBody = members.map(([key, value]): [string, string] => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return new Map([...fromBody, ...request.query]);
}

function problem(status: number, message: string): Answer {
  return json(status, { error: `Cannot do this: ${message}` });
}
