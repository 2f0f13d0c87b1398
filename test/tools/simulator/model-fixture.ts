import assert from "node:assert/strict";
import { serveApi } from "../../../src/tools/simulator/api/api.ts";
import type { Answer } from "../../../src/tools/simulator/api/answer.ts";
import { type Cluster, createCluster, simulatedNodeNamed } from "../../../src/tools/simulator/model/cluster.ts";
import { injectFault, type Fault } from "../../../src/tools/simulator/model/faults.ts";
import { isJsonObject, type SimulatorObject } from "../../../src/tools/simulator/model/json.ts";
import { advance } from "../../../src/tools/simulator/model/model.ts";
import type { SimulatedNode } from "../../../src/tools/simulator/model/node.ts";
import type { CallOutcome, TextReply } from "../../../src/tools/simulator/model/outcome.ts";

/** The start time of every fixture, in ms since the epoch. */
export const beginMs = Date.parse("2026-11-21T06:00:00Z");

/** A simulated cluster without sockets, whose clock a test moves. */
export interface ModelFixture {
  readonly cluster: Cluster;
  pass(ms: number): void;
  node(name: string): SimulatedNode;
  fault(name: string, fault: Fault): void;
  /** Sends a request to a node's API. Advances the clock, at most a minute, while a call is in progress. */
  ask(node: string, method: string, target: string, body?: unknown): Answer;
  /** Requests a JSON object. */
  document(node: string, target: string): SimulatorObject;
  status(node: string, target: string): number;
  /** The nodes that answer `/leader` with 200. */
  leaders(): readonly string[];
}

/**
 * Creates a cluster: ttl 20 s, loop_wait 2 s, a switchover takes 2 s, 1000 bytes of WAL a second. `config` overrides
 * that.
 */
export function createModelFixture(nodes: number, config: SimulatorObject = {}): ModelFixture {
  const cluster = createCluster({
    scope: "demo",
    nodes,
    nowMs: beginMs,
    config: {
      ttl: 20,
      loop_wait: 2,
      retry_timeout: 3,
      maximum_lag_on_failover: 1_048_576,
      postgresql: { parameters: {} },
      ...config,
    },
    timing: { switchoverMs: 2000, walBytesPerSecond: 1000 },
  });
  for (const node of cluster.nodes) node.apiUrl = `http://${node.name}/patroni`;
  const pass = (ms: number): void => advance(cluster, cluster.nowMs + ms);
  pass(0);
  const node = (name: string): SimulatedNode => simulatedNodeNamed(cluster, name) ?? assert.fail(`no node ${name}`);
  const ask: ModelFixture["ask"] = (name, method, target, body) => {
    const [path = "/", search = ""] = target.split("?");
    const query = new Map([...new URLSearchParams(search)].filter(([, value]) => value !== ""));
    const request = {
      method,
      path,
      head: path.split("/")[1] ?? "",
      query,
      accept: "",
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const served = serveApi({ cluster, node: node(name), vocabulary: "patroni" }, request);
    if (served.kind === "answer") return served.answer;
    const { status, text } = outcomeOf(served, pass);
    return { kind: "full", status, contentType: "text/html", body: text };
  };
  return {
    cluster,
    pass,
    node,
    fault: (name, fault) => {
      injectFault(cluster, node(name), fault);
      pass(0);
    },
    ask,
    document: (name, target) => {
      const answer = ask(name, "GET", target);
      const document: unknown = answer.kind === "full" ? JSON.parse(answer.body) : undefined;
      return isJsonObject(document) ? document : assert.fail(`${target} of ${name} is no document`);
    },
    status: (name, target) => ask(name, "GET", target).status,
    leaders: () =>
      cluster.nodes.filter(({ name }) => ask(name, "GET", "/leader").status === 200).map(({ name }) => name),
  };
}

function outcomeOf(call: Extract<CallOutcome, { kind: "wait" }>, pass: (ms: number) => void): TextReply {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 100) {
    const reply = call.poll();
    if (reply !== undefined) return reply;
    pass(100);
  }
  return call.timeoutReply;
}
