import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { type Answer, json } from "./answer.ts";
import type { SimulatedRequest } from "./request.ts";
import { type Cluster, leaderOf, simulatedNodeNamed } from "../model/cluster.ts";
import { faultEffect } from "../model/fault-effect.ts";
import { type Fault, parseFault } from "../model/faults.ts";
import { parseJson } from "../../../core/cluster/values/json.ts";
import { isJsonObject, type SimulatorObject } from "../model/json.ts";
import type { SimulatedNode } from "../model/node.ts";
import { modelDocument } from "./model-document.ts";

/** What `/sim` controls. It is served on every open port, whatever the fault of that node. */
export interface ControlContext {
  readonly cluster: Cluster;
  /** Injects a fault; resolves when it is in effect, so that the port of a killed node is closed. */
  readonly fault: (node: string, fault: Fault) => Promise<void>;
  /** Whether this is also served on a port of its own, so that even the last node can be killed and revived. */
  readonly hasOwnPort: boolean;
}

/** The result of a control request: the document, and one line for people. */
export interface ControlReply {
  readonly status: number;
  readonly document: SimulatorObject;
  readonly text: string;
  /** The path that undoes the fault, such as `/sim/pg1/heal`; `null` if there is nothing to undo. */
  readonly undo: string | null;
}

/** Serves `/sim` on a node's port: the document of {@link control}. */
export async function controlAnswer(context: ControlContext, request: SimulatedRequest): Promise<Answer> {
  const { status, document } = await control(context, request);
  return json(status, document);
}

/**
 * Handles `GET /sim` (the model), `POST /sim/{node}/{fault}` and `POST /sim/heal`, which heals every node. Success is
 * 200 with the model. The node `leader` is the holder of the lock. An unknown node is 404, an invalid fault or
 * parameter 400, another method 405. Killing the last node with an open port is 409 unless there is an own port: no
 * request could revive it.
 */
export async function control(context: ControlContext, request: SimulatedRequest): Promise<ControlReply> {
  const { cluster } = context;
  const [name = "", action, ...rest] = request.path.replace(/^\/+/, "").split("/").slice(1);
  if (name === "") {
    return request.method === "GET"
      ? done(cluster, `The model of ${cluster.scope}.`, null)
      : problem(405, `the method must be GET, got ${request.method}`);
  }
  if (request.method !== "POST") return problem(405, `the method must be POST, got ${request.method}`);
  if (name === "heal" && action === undefined) return healAll(context);
  const node = name === "leader" ? leaderOf(cluster) : simulatedNodeNamed(cluster, name);
  if (node === undefined) return problem(404, unknownNode(cluster, name));
  const parsed = parseFault(rest.length === 0 ? (action ?? "") : request.path, parametersOf(request));
  if (parsed.kind === "invalid") return problem(400, parsed.text);
  const isLast = cluster.nodes.filter((other) => other.alive).length === 1 && node.alive;
  if (parsed.fault.kind === "kill" && isLast && !context.hasOwnPort)
    return problem(409, `${node.name} has the last open port, so no request could revive it`);
  // The text describes the node as it is before the fault.
  const text = faultEffect(cluster, node, parsed.fault);
  const failure = await inject(context, [node], parsed.fault);
  return failure ?? done(cluster, text, parsed.fault.kind === "heal" ? null : `/sim/${node.name}/heal`);
}

async function healAll(context: ControlContext): Promise<ControlReply> {
  const { nodes, scope } = context.cluster;
  const failure = await inject(context, nodes, { kind: "heal" });
  const count = nodes.length === 1 ? "The node" : `All ${String(nodes.length)} nodes`;
  return failure ?? done(context.cluster, `${count} of ${scope}: all faults are undone.`, null);
}

/** @returns why it failed: the port of a killed node was taken meanwhile; `null` on success */
async function inject(
  { fault: injectInto }: ControlContext,
  nodes: readonly SimulatedNode[],
  fault: Fault,
): Promise<ControlReply | null> {
  try {
    for (const { name } of nodes) await injectInto(name, fault);
    return null;
  } catch (error) {
    return problem(409, errorMessage(error));
  }
}

function unknownNode(cluster: Cluster, name: string): string {
  if (name === "leader") return "there must be a leader, got none at present: name a node";
  const names = cluster.nodes.map((known) => known.name).join(", ");
  return `the node must be leader or one of ${names}, got "${name}"`;
}

/** Reads parameters from the query and the members of a JSON body. The query wins. */
function parametersOf(request: SimulatedRequest): ReadonlyMap<string, string> {
  const body = typeof request.body === "string" ? parseJson(request.body) : undefined;
  const members = isJsonObject(body) ? Object.entries(body) : [];
  const fromBody = members.map(([key, value]): [string, string] => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return new Map([...fromBody, ...request.query]);
}

function done(cluster: Cluster, text: string, undo: string | null): ControlReply {
  return { status: 200, document: modelDocument(cluster), text, undo };
}

/** An error of a control request. */
export function problem(status: number, message: string): ControlReply {
  const text = `Cannot do this: ${message}`;
  return { status, document: { error: text }, text, undo: null };
}
