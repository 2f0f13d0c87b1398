import assert from "node:assert/strict";
import { serveApi } from "../../src/simulator/api/api.ts";
import type { Answer } from "../../src/simulator/api/answer.ts";
import { type Cluster, createCluster, nodeNamed } from "../../src/simulator/model/cluster.ts";
import { injectFault, type Fault } from "../../src/simulator/model/faults.ts";
import { isJsonObject, type SimulatorObject } from "../../src/simulator/model/json.ts";
import { advance } from "../../src/simulator/model/model.ts";
import type { SimulatedNode } from "../../src/simulator/model/node.ts";
import type { CallOutcome, TextReply } from "../../src/simulator/model/outcome.ts";

/** The instant at which every stage begins. */
export const beginMs = Date.parse("2026-11-21T06:00:00Z");

/** A cluster without sockets, whose clock is moved by hand. */
export interface SimulatedCluster {
  readonly cluster: Cluster;
  advance(ms: number): void;
  node(name: string): SimulatedNode;
  inject(name: string, fault: Fault): void;
  /** Asks a node's API and gives the answer; a call that must be waited for is followed with the clock, at most a minute. */
  call(node: string, method: string, target: string, body?: unknown): Answer;
  /** Asks for a JSON object. */
  document(node: string, target: string): SimulatorObject;
  status(node: string, target: string): number;
  /** Who answers `/leader` with 200. */
  leaders(): readonly string[];
}

/** Sets a stage: ttl 20 s, loop_wait 2 s, a switchover takes 2 s, 1000 bytes of WAL a second. `config` is laid over that. */
export function simulatedCluster(nodes: number, config: SimulatorObject = {}): SimulatedCluster {
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
  const node = (name: string): SimulatedNode => nodeNamed(cluster, name) ?? assert.fail(`no node ${name}`);
  const ask: SimulatedCluster["call"] = (name, method, target, body) => {
    const [path = "/", search = ""] = target.split("?");
    const query = new Map([...new URLSearchParams(search)].filter(([, value]) => value !== ""));
    const asked = {
      method,
      path,
      head: path.split("/")[1] ?? "",
      query,
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const served = serveApi({ cluster, node: node(name), vocabulary: "patroni" }, asked);
    if (served.kind === "answer") return served.answer;
    const { status, text } = outcomeOf(served, pass);
    return { kind: "full", status, contentType: "text/html", body: text };
  };
  return {
    cluster,
    advance: pass,
    node,
    inject: (name, fault) => {
      injectFault(cluster, node(name), fault);
      pass(0);
    },
    call: ask,
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
    const reply = call.look();
    if (reply !== undefined) return reply;
    pass(100);
  }
  return call.late;
}
