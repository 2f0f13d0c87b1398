import { AgentHandlers } from "../../../src/app/handlers/agent-handlers.ts";
import { answerSourcesOf, type AnswerSources } from "../../../src/app/handlers/answer-sources.ts";
import { buildListenerHandler, type Backend } from "../../../src/app/handlers/listener-handler.ts";
import type { Machine } from "../../../src/app/machine.ts";
import { Monitor } from "../../../src/app/monitor.ts";
import { fullStateOf } from "../../../src/app/worker/full-state.ts";
import { WorkerState } from "../../../src/app/worker/worker-state.ts";
import type { Config } from "../../../src/config/model/config.ts";
import { parseCheckTarget } from "../../../src/http/diagnostics/explain-reply.ts";
import { explain } from "../../../src/health/explain/explain.ts";
import { viewAt } from "../../../src/health/evidence/cluster-view.ts";
import { clusterNamed, nodeNamed } from "../../../src/cluster/lookup.ts";
import type { LineHandler, ListenerHandler } from "../../../src/http/message/handler.ts";
import type { IncomingCall } from "../../../src/http/message/incoming-call.ts";
import type { Reply } from "../../../src/http/message/reply.ts";
import { AnswerCounter } from "../../../src/http/message/answer-counter.ts";
import { VerdictFollower } from "../../../src/push/verdict-follower.ts";
import { OutcomeFeed } from "../../../src/workers/outcome-feed.ts";
import { Clock } from "../../../src/state/clock.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { agentListener, healthListener } from "./configuration.ts";
import { metrics } from "./subject-metrics.ts";

/** The fitness of a node for a check, as one part of rolecall gives it. */
export interface Opinion {
  readonly isFit: boolean;
  /** `null` for a yes, and where the part gives no reason. */
  readonly reason: string | null;
}

/** What a simulated rolecall is made of beside the monitoring itself. */
export interface SubjectOptions {
  readonly config: Config;
  readonly machine: Machine;
  /** Whether it has a worker that follows it. */
  readonly hasWorker: boolean;
  /** The cluster, and the checks whose verdicts are pushed. */
  readonly cluster: string;
  readonly pushed: readonly string[];
}

/**
 * rolecall in a simulation: everything between the connections to nodes and the bytes of answers is the program's own.
 */
export class Subject {
  readonly monitor: Monitor;
  readonly #handler: ListenerHandler;
  readonly #sources: AnswerSources;
  readonly #agent: LineHandler;
  readonly #follower: VerdictFollower;
  readonly #worker: Worker | null;
  /** The monitor judges what it pushes anew after a gap of its clock; so does this follower. */
  readonly #gaps: Clock;
  readonly #options: SubjectOptions;

  constructor(options: SubjectOptions) {
    const { config, machine, hasWorker, cluster } = options;
    this.#options = options;
    this.monitor = new Monitor(config, { log: silentLogger, machine, metrics });
    const { store, clock } = this.monitor;
    this.#sources = sourcesOf({ store: () => store, clock: () => clock });
    this.#handler = handlerOf(config, this.#sources);
    const { snapshot, policy, now } = this.#sources;
    const agents = new AgentHandlers({ snapshot, policy, now, isStopping: () => false, onAnswer: () => {} });
    this.#agent = agents.handlerFor({ listener: agentListener, config, key: "agent" });
    this.#follower = new VerdictFollower({
      cluster: (name) => clusterNamed(store.current, name),
      policy,
      now: () => clock.observe(),
      setTimer: machine.setTimer,
      onChanges: () => {},
      onError: (_, error) => {
        throw error;
      },
    });
    this.#gaps = new Clock({
      ...machine.time,
      tickIntervalMs: Infinity,
      onGap: () => this.#follower.clusterChanged(cluster),
    });
    this.#worker = hasWorker ? new Worker(this.monitor, config, machine) : null;
    store.onChange(() => this.#follower.clusterChanged(cluster));
  }

  /** Starts as the program does. Resolves after the first round of probes. */
  async start(): Promise<void> {
    await this.monitor.restore();
    this.#worker?.start();
    this.#follower.configure(
      this.#options.pushed.map((text) => poolOf(this.#options.cluster, text)),
      new Set(),
    );
    await this.monitor.probe();
  }

  async stop(): Promise<void> {
    this.#follower.stop();
    await this.monitor.stop();
  }

  get sequence(): number {
    return this.monitor.store.current.sequence;
  }

  /** The bytes of an answer as the fast path sends them; `null` if it leaves the request to node:http. */
  answer(text: string): Buffer | null {
    return this.#handler.cached?.find(text)?.bytes ?? null;
  }

  /** The same request on the ordinary path. */
  ordinary(method: string, target: string): Promise<Reply | null> {
    return this.#handler(callOf(method, target));
  }

  /** The answer of the worker's ordinary path; `null` without a worker, or while it has another snapshot. */
  async following(method: string, target: string): Promise<Reply | null> {
    const worker = this.#worker;
    return worker === null || worker.sequence !== this.sequence ? null : worker.handler(callOf(method, target));
  }

  /** What an agent check says: a no has a reason in its comment. */
  agent(node: string, check: string): Opinion {
    const line = this.#agent(`${node} ${check}`, "127.0.0.1") ?? "";
    const comment = /# (?:drain: )?(\S+)/.exec(line);
    return { isFit: comment === null, reason: comment?.[1] ?? null };
  }

  /** What was last found for a server that follows a check; `null` if nothing is pushed for it. */
  pushed(node: string, check: string): Opinion | null {
    this.#gaps.observe();
    const found = this.#follower.current(check).find(({ server }) => server === node);
    return found === undefined || found.target === null ? null : { isFit: found.target === "up", reason: null };
  }

  explained(node: string, check: string): Opinion | null {
    const { snapshot, policy, now } = this.#sources;
    const state = clusterNamed(snapshot(), this.#options.cluster);
    const health = policy(this.#options.cluster);
    const parsed = parseCheckTarget(check);
    const observation = state === undefined ? undefined : nodeNamed(state, node);
    if (state === undefined || health === undefined || observation === undefined || "subject" in parsed) return null;
    const { verdict, rules, decisive } = explain(viewAt(state, health, now()), observation, parsed);
    const reason = verdict.fit ? null : verdict.reason;
    const cause = decisive === null ? null : rules[decisive];
    if (reason !== null && cause?.reason !== reason) return { isFit: false, reason: `no rule of ${reason}` };
    return { isFit: verdict.fit, reason };
  }
}

/** How often a worker looks for a gap of its clock, in ms. */
const workerTickMs = 1_000;

/** A worker that follows the main process: it gets each outcome as a message, and answers from its own copy. */
class Worker {
  readonly handler: ListenerHandler;
  readonly #replica: WorkerState;
  readonly #monitor: Monitor;
  readonly #config: Config;
  readonly #feed: OutcomeFeed;
  readonly #setTimer: Machine["setTimer"];

  constructor(monitor: Monitor, config: Config, machine: Machine) {
    this.#monitor = monitor;
    this.#config = config;
    this.#setTimer = machine.setTimer;
    const clock = (): Clock => new Clock({ ...machine.time, tickIntervalMs: Infinity, onGap: () => {} });
    this.#replica = new WorkerState(clock);
    const sources = sourcesOf({ store: () => this.#replica.store, clock: () => this.#replica.clock });
    this.handler = handlerOf(config, sources);
    this.#feed = new OutcomeFeed((changes) => {
      const message = { kind: "changes" as const, changes, clock: monitor.clock.observeReading() };
      // As between processes: the message is copied.
      if (!this.#replica.record(structuredClone(message))) this.#load();
    }, machine.setTimer);
  }

  get sequence(): number {
    return this.#replica.store.current.sequence;
  }

  start(): void {
    this.#load();
    this.#tick();
    this.#monitor.store.onOutcome((outcome, nowMs, sequence) => this.#feed.add(outcome, nowMs, sequence));
  }

  #tick(): void {
    this.#setTimer(() => {
      this.#replica.tick();
      this.#tick();
    }, workerTickMs);
  }

  #load(): void {
    this.#feed.flushAndReset();
    const state = fullStateOf({ monitor: this.#monitor, config: this.#config, phase: "serving" });
    this.#replica.load({ ...structuredClone(state), relay: { port: 0, secret: "" } });
  }
}

const refuses: Backend = {
  passthrough: { manage: () => Promise.reject(unexpected()), fetch: () => Promise.reject(unexpected()) },
  admin: () => Promise.reject(unexpected()),
  diagnostics: () => Promise.reject(unexpected()),
  exporter: () => Promise.reject(unexpected()),
};

function unexpected(): Error {
  return new Error("Cannot answer: the simulation sends only checks");
}

function sourcesOf({ store, clock }: Pick<Parameters<typeof answerSourcesOf>[0], "store" | "clock">): AnswerSources {
  return answerSourcesOf({ store, clock, phase: () => "serving", counter: new AnswerCounter(), portOf: () => 0 });
}

function handlerOf(config: Config, sources: AnswerSources): ListenerHandler {
  return buildListenerHandler({ listener: healthListener, config }, sources, refuses);
}

/** A check needs no more of a call than its request. */
function callOf(method: string, target: string): IncomingCall {
  const request = { method, target, host: "rolecall", nodeHeader: undefined, serverState: undefined };
  return { request } as unknown as IncomingCall;
}

function poolOf(cluster: string, text: string): Parameters<VerdictFollower["configure"]>[0][number] {
  const check = parseCheckTarget(text);
  if ("subject" in check) throw new Error(`Cannot push ${text}: it must be a check`);
  return { balancer: text, backend: "pool", cluster, check, servers: null, cutsSessions: false, weight: null };
}
