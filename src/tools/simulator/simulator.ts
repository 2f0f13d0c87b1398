import type { Answer } from "./api/answer.ts";
import { text } from "./api/answer.ts";
import { serveApi } from "./api/api.ts";
import type { SimulatedRequest } from "./api/request.ts";
import { type Cluster, createCluster, simulatedNodeNamed } from "./model/cluster.ts";
import { control, controlAnswer, type ControlContext, type ControlReply } from "./api/control.ts";
import { modelDocument } from "./api/model-document.ts";
import { injectFault, type Fault } from "./model/faults.ts";
import type { SimulatorObject } from "./model/json.ts";
import { advance, nextEventAt } from "./model/model.ts";
import type { ApiFault, SimulatedNode } from "./model/node.ts";
import type { CallOutcome } from "./model/outcome.ts";
import { NodeServer } from "./api/server.ts";
import { translateConfig, type Vocabulary, wordsOf } from "./api/vocabulary.ts";

/** The properties of a simulated cluster. Durations in ms. */
export interface SimulatorOptions {
  /** The number of nodes, 1 to 1000. */
  readonly nodes: number;
  /** The port of the first node, the others have the ports after it; 0: any free ports. */
  readonly port: number;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** The scope. Default: `demo`. */
  readonly scope?: string;
  /** Default: `patroni`. */
  readonly vocabulary?: Vocabulary;
  /** Whether to serve HTTP/1.1 with keep-alive instead of HTTP/1.0. Default: false. */
  readonly keepAlive?: boolean;
  /** Default: 30 000, as in Patroni. */
  readonly ttlMs?: number;
  /** Default: 10 000, as in Patroni. */
  readonly loopWaitMs?: number;
  /** Default: 10 000, as in Patroni. */
  readonly retryTimeoutMs?: number;
  /** The rate at which the primary writes WAL. Default: 262 144. */
  readonly walBytesPerSecond?: number;
  /** The approximate duration of a switchover; a restart takes half of it. Default: 2000. */
  readonly switchoverMs?: number;
  /** Default: `off`. */
  readonly synchronousMode?: "off" | "on" | "quorum";
  /** Whether it is a standby cluster: its leader is a standby leader. Default: false. */
  readonly standbyCluster?: boolean;
  /** The clock, in ms since the epoch. Default: real time that never steps back. */
  readonly nowMs?: () => number;
}

/** A running simulated cluster. */
export interface Simulator {
  readonly scope: string;
  /** The nodes, pg1 first, with the base addresses of their APIs. */
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  /**
   * Injects a fault; resolves when it is in effect. Rejects for an unknown node, and if the port of a revived node is
   * taken.
   */
  fault(node: string, fault: Fault): Promise<void>;
  /** Handles a request to `/sim` that came to a port that no node has: the control port. */
  control(request: SimulatedRequest): Promise<ControlReply>;
  /** Returns the present model, as `GET /sim` shows it. */
  model(): SimulatorObject;
  /** Stops all servers. Resolves when every port is closed. */
  stop(): Promise<void>;
}

/** How often the model advances without requests, in ms, so that it never has much to catch up. */
const idleAdvanceMs = 5000;
/** The longest pause between two looks at a management call in progress, in ms. */
const pollIntervalMsMax = 250;

/** Starts a simulated cluster. Rejects with a RangeError for invalid options, and if a port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const problem = problemWith(options);
  if (problem !== undefined) throw new RangeError(`Cannot simulate a cluster: ${problem}`);
  const simulation = new Simulation(options);
  try {
    await simulation.open(options.port);
  } catch (error) {
    await simulation.stop();
    throw error;
  }
  return simulation;
}

type Life =
  | { readonly kind: "new" }
  | { readonly kind: "running"; readonly idleTimer: NodeJS.Timeout }
  | { readonly kind: "stopped" };

class Simulation implements Simulator {
  readonly #cluster: Cluster;
  readonly #servers: ReadonlyMap<SimulatedNode, NodeServer>;
  readonly #nowMs: () => number;
  readonly #host: string;
  readonly #vocabulary: Vocabulary;
  #life: Life = { kind: "new" };

  constructor(options: SimulatorOptions) {
    this.#nowMs = options.nowMs ?? steadyNow;
    this.#host = options.host ?? "127.0.0.1";
    this.#vocabulary = options.vocabulary ?? "patroni";
    this.#cluster = createCluster({
      scope: options.scope ?? "demo",
      nodes: options.nodes,
      nowMs: this.#nowMs(),
      config: translateConfig(configOf(options), this.#vocabulary),
      timing: { switchoverMs: options.switchoverMs ?? 2000, walBytesPerSecond: options.walBytesPerSecond ?? 262_144 },
    });
    this.#servers = new Map(
      this.#cluster.nodes.map((node) => [node, this.#serverOf(node, options.keepAlive ?? false)]),
    );
  }

  get scope(): string {
    return this.#cluster.scope;
  }

  get nodes(): Simulator["nodes"] {
    return [...this.#servers].map(([node, server]) => ({ name: node.name, url: this.#url(server) }));
  }

  /** Opens all servers and starts the model. Rejects if a port is taken. */
  async open(port: number): Promise<void> {
    this.#life = { kind: "running", idleTimer: setInterval(() => this.#advance(), idleAdvanceMs).unref() };
    let next = port;
    for (const [node, server] of this.#servers) {
      await server.open(next);
      node.apiUrl = `${this.#url(server)}/${wordsOf(this.#vocabulary).product}`;
      if (port !== 0) next += 1;
    }
    this.#advance();
  }

  async fault(name: string, fault: Fault): Promise<void> {
    this.#advance();
    const node = simulatedNodeNamed(this.#cluster, name);
    const server = node === undefined ? undefined : this.#servers.get(node);
    if (node === undefined || server === undefined) throw new RangeError(`Cannot find node "${name}"`);
    // It was killed again, or everything was stopped, meanwhile: that stays.
    if (fault.kind === "heal" && !(await server.open(server.port))) return;
    injectFault(this.#cluster, node, fault);
    this.#advance();
    if (fault.kind === "kill") server.halt();
    if (fault.kind === "heal") server.release();
  }

  control(request: SimulatedRequest): Promise<ControlReply> {
    this.#advance();
    return control(this.#controlContext(true), request);
  }

  model(): SimulatorObject {
    this.#advance();
    return modelDocument(this.#cluster);
  }

  async stop(): Promise<void> {
    if (this.#life.kind === "running") clearInterval(this.#life.idleTimer);
    this.#life = { kind: "stopped" };
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  #serverOf(node: SimulatedNode, keepAlive: boolean): NodeServer {
    const fault = (): ApiFault => (node.frozenAtMs === undefined ? node.api : { kind: "hang" });
    return new NodeServer({ host: this.#host, keepAlive, fault, answer: (request) => this.#answer(node, request) });
  }

  async #answer(node: SimulatedNode, request: SimulatedRequest): Promise<Answer> {
    this.#advance();
    if (request.head === "sim") return controlAnswer(this.#controlContext(false), request);
    const served = serveApi({ cluster: this.#cluster, node, vocabulary: this.#vocabulary }, request);
    return served.kind === "answer" ? served.answer : this.#wait(served);
  }

  #controlContext(hasOwnPort: boolean): ControlContext {
    return { cluster: this.#cluster, fault: (name, fault) => this.fault(name, fault), hasOwnPort };
  }

  /** Waits for a management call: polls it at each event of the model. */
  async #wait(call: Extract<CallOutcome, { kind: "wait" }>): Promise<Answer> {
    for (;;) {
      this.#advance();
      const reply = call.poll();
      if (reply !== undefined) return text(reply);
      if (this.#life.kind === "stopped" || this.#nowMs() >= call.untilMs) return text(call.timeoutReply);
      const nextMs = Math.min(call.untilMs, nextEventAt(this.#cluster)) - this.#nowMs();
      const stepMs = Math.min(pollIntervalMsMax, Math.max(1, Math.ceil(nextMs)));
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    }
  }

  #advance(): void {
    advance(this.#cluster, this.#nowMs());
  }

  #url(server: NodeServer): string {
    const host = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return `http://${host}:${String(server.port)}`;
  }
}

/** Wall time at the start, monotonic from there, so that a clock step expires no lock. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

function problemWith(options: SimulatorOptions): string | undefined {
  const { nodes, port, ttlMs = 30_000, loopWaitMs = 10_000, switchoverMs = 2000, walBytesPerSecond = 0 } = options;
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 1000)
    return `nodes must be a whole number from 1 to 1000, got ${String(nodes)}`;
  if (!Number.isInteger(port) || port < 0 || (port !== 0 && port + nodes - 1 > 65_535)) {
    return `port must be 0, or leave room for ${String(nodes)} ports up to 65535, got ${String(port)}`;
  }
  if (!(ttlMs >= 20 && ttlMs <= 86_400_000)) return `ttl must be from 20 ms to a day, got ${String(ttlMs)} ms`;
  if (!(loopWaitMs >= 10 && loopWaitMs <= ttlMs / 2))
    return `loop_wait must be from 10 ms to half of ttl, got ${String(loopWaitMs)} ms`;
  if (!(switchoverMs >= 1 && switchoverMs <= 3_600_000))
    return `the switchover must take from 1 ms to an hour, got ${String(switchoverMs)} ms`;
  if (!(walBytesPerSecond >= 0 && walBytesPerSecond <= 2 ** 40))
    return `the WAL rate must be from 0 to 1 TB per second, got ${String(walBytesPerSecond)}`;
  return undefined;
}

function configOf(options: SimulatorOptions): SimulatorObject {
  const { synchronousMode = "off" } = options;
  return {
    ttl: (options.ttlMs ?? 30_000) / 1000,
    loop_wait: (options.loopWaitMs ?? 10_000) / 1000,
    retry_timeout: (options.retryTimeoutMs ?? 10_000) / 1000,
    maximum_lag_on_failover: 1_048_576,
    ...(synchronousMode !== "off" && { synchronous_mode: synchronousMode === "on" ? true : synchronousMode }),
    ...(options.standbyCluster === true && { standby_cluster: { host: "192.0.2.1", port: 5432 } }),
    postgresql: {
      use_slots: true,
      use_pg_rewind: true,
      parameters: { wal_level: "replica", hot_standby: "on", max_connections: 100 },
    },
  };
}
