import type { Answer } from "./api/answer.ts";
import { text } from "./api/answer.ts";
import { serveApi } from "./api/api.ts";
import type { SimulatedRequest } from "./api/request.ts";
import { type Cluster, createCluster, nodeNamed } from "./model/cluster.ts";
import { control, modelDocument } from "./api/control.ts";
import { injectFault, type Fault } from "./model/faults.ts";
import type { SimulatorObject } from "./model/json.ts";
import { advance, nextEventAt } from "./model/model.ts";
import type { ApiFault, SimulatedNode } from "./model/node.ts";
import type { CallOutcome } from "./model/outcome.ts";
import { NodeServer } from "./api/server.ts";
import { translateConfig, type Vocabulary, wordsOf } from "./api/vocabulary.ts";

/** What a simulated cluster is like. Times in milliseconds. */
export interface SimulatorOptions {
  /** How many nodes, 1 to 1000. */
  readonly nodes: number;
  /** The first node's port, the others follow upwards; 0: any free ports. */
  readonly port: number;
  /** The address to listen on, 127.0.0.1 unless told. */
  readonly host?: string;
  /** The cluster's name, `demo` unless told. */
  readonly scope?: string;
  readonly vocabulary?: Vocabulary;
  /** HTTP/1.1 keep-alive instead of HTTP/1.0 and closing. */
  readonly keepAlive?: boolean;
  /** 30 000 unless told, as Patroni. */
  readonly ttlMs?: number;
  /** 10 000 unless told, as Patroni. */
  readonly loopWaitMs?: number;
  /** 10 000 unless told, as Patroni. */
  readonly retryTimeoutMs?: number;
  /** How fast the primary writes, 262 144 unless told. */
  readonly walBytesPerSecond?: number;
  /** About how long a switchover takes, 2000 unless told; a restart takes half of it. */
  readonly switchoverMs?: number;
  readonly synchronousMode?: "off" | "on" | "quorum";
  /** Simulates the standby cluster of another one: its leader is a standby leader. */
  readonly standbyCluster?: boolean;
  /** The clock, epoch milliseconds; unless told, real time that never steps back. */
  readonly nowMs?: () => number;
}

/** A simulated cluster that is being served. */
export interface Simulator {
  /** Its nodes, pg1 upwards, and the base address of each one's API. */
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  /** Does a fault to a node; resolves when it is in effect. Rejects for an unknown name, and when a revived node's port was taken meanwhile. */
  fault(node: string, fault: Fault): Promise<void>;
  /** The model as `GET /sim` shows it, now. */
  model(): SimulatorObject;
  /** Stops serving; resolves when every port is closed. */
  stop(): Promise<void>;
}

/** How often the model is moved when nobody asks, so that a long silence is never caught up at once. */
const idleAdvanceMs = 5000;
const waitStepMsMax = 250;

/** Starts a simulated cluster and serves it. Rejects with a RangeError for impossible options, and when a port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const wrong = problemWith(options);
  if (wrong !== undefined) throw new RangeError(`Cannot simulate a cluster as ${wrong}`);
  const simulation = new Simulation(options);
  try {
    await simulation.open(options.port);
  } catch (error) {
    await simulation.stop();
    throw error;
  }
  return simulation;
}

class Simulation implements Simulator {
  readonly #cluster: Cluster;
  readonly #servers: ReadonlyMap<SimulatedNode, NodeServer>;
  readonly #nowMs: () => number;
  readonly #host: string;
  readonly #vocabulary: Vocabulary;
  readonly #idle: NodeJS.Timeout;
  #isStopped = false;

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
    this.#idle = setInterval(() => {
      this.#advance();
    }, idleAdvanceMs).unref();
  }

  get nodes(): Simulator["nodes"] {
    return [...this.#servers].map(([node, server]) => ({ name: node.name, url: this.#url(server) }));
  }

  async open(port: number): Promise<void> {
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
    const node = nodeNamed(this.#cluster, name);
    const server = node === undefined ? undefined : this.#servers.get(node);
    if (node === undefined || server === undefined) throw new RangeError(`Cannot find node "${name}"`);
    if (fault.kind === "heal") await server.open(server.port);
    injectFault(this.#cluster, node, fault);
    this.#advance();
    if (fault.kind === "kill") server.halt();
    if (fault.kind === "heal") server.thaw();
  }

  model(): SimulatorObject {
    this.#advance();
    return modelDocument(this.#cluster);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#idle);
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  #serverOf(node: SimulatedNode, keepAlive: boolean): NodeServer {
    const fault = (): ApiFault => (node.frozenAtMs === undefined ? node.api : { kind: "hang" });
    return new NodeServer({ host: this.#host, keepAlive, fault, answer: (asked) => this.#answer(node, asked) });
  }

  async #answer(node: SimulatedNode, asked: SimulatedRequest): Promise<Answer> {
    this.#advance();
    if (asked.head === "sim")
      return control({ cluster: this.#cluster, fault: (name, fault) => this.fault(name, fault) }, asked);
    const served = serveApi({ cluster: this.#cluster, node, vocabulary: this.#vocabulary }, asked);
    return served.kind === "answer" ? served.answer : this.#wait(served);
  }

  /** Waits for a management call, looking again at each of the model's events. */
  async #wait(call: Extract<CallOutcome, { kind: "wait" }>): Promise<Answer> {
    for (;;) {
      this.#advance();
      const reply = call.look();
      if (reply !== undefined) return text(reply);
      if (this.#isStopped || this.#nowMs() >= call.untilMs) return text(call.late);
      const nextMs = Math.min(call.untilMs, nextEventAt(this.#cluster)) - this.#nowMs();
      const stepMs = Math.min(waitStepMsMax, Math.max(1, Math.ceil(nextMs)));
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

/** Wall time at the start, monotonic from there: a stepped clock moves no lock. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

function problemWith(options: SimulatorOptions): string | undefined {
  const { nodes, port, ttlMs = 30_000, loopWaitMs = 10_000, switchoverMs = 2000, walBytesPerSecond = 0 } = options;
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 1000)
    return `nodes must be a whole number from 1 to 1000: it is ${String(nodes)}`;
  if (!Number.isInteger(port) || port < 0 || (port !== 0 && port + nodes - 1 > 65_535)) {
    return `port must be 0, or leave room for ${String(nodes)} ports up to 65535: it is ${String(port)}`;
  }
  if (!(ttlMs >= 20 && ttlMs <= 86_400_000)) return `ttl must be from 20 ms to a day: it is ${String(ttlMs)} ms`;
  if (!(loopWaitMs >= 10 && loopWaitMs <= ttlMs / 2))
    return `loop_wait must be from 10 ms to half of ttl: it is ${String(loopWaitMs)} ms`;
  if (!(switchoverMs >= 1 && switchoverMs <= 3_600_000))
    return `the switchover must take from 1 ms to an hour: it is ${String(switchoverMs)} ms`;
  if (!(walBytesPerSecond >= 0 && walBytesPerSecond <= 2 ** 40))
    return `the WAL rate must be from 0 to 1 TB a second: it is ${String(walBytesPerSecond)}`;
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
