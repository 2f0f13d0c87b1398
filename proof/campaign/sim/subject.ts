import "./loaded-features.ts";
import { AgentHandlers } from "../../../src/features/agent/agent-handlers.ts";
import type { AnswerSources } from "../../../src/app/handlers/answer-sources.ts";
import type { Machine } from "../../../src/app/machine/machine.ts";
import { Monitor } from "../../../src/app/monitor.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { parseCheckTarget } from "../../../src/core/http/diagnostics/explain-reply.ts";
import { explain } from "../../../src/core/health/rules/explain.ts";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { clusterNamed, nodeNamed } from "../../../src/core/cluster/lookup.ts";
import type { LineHandler, ListenerHandler } from "../../../src/core/http/message/handler.ts";
import type { Reply } from "../../../src/core/http/message/reply.ts";
import type { Offers } from "../../../src/core/feature/offer.ts";
import type { Logger } from "../../../src/core/log/logger.ts";
import { VerdictFollower } from "../../../src/core/balancing/verdict-follower.ts";
import { Clock } from "../../../src/core/state/clock.ts";
import { silentLogger } from "../../../test/fake/silent-logger.ts";
import { agentListener, healthListener } from "./configuration.ts";
import { metrics } from "./subject-metrics.ts";
import { callOf, handlerOf, sourcesOf } from "./virtual-listener.ts";
import { VirtualWorker } from "./virtual-worker.ts";

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
  /** Default: nothing is logged. */
  readonly log?: Logger;
  /** Brings what it has in place of networks. */
  readonly bring?: (offers: Offers) => void;
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
  readonly #worker: VirtualWorker | null;
  /** The monitor judges what it pushes anew after a gap of its clock; so does this follower. */
  readonly #gaps: Clock;
  readonly #options: SubjectOptions;

  constructor(options: SubjectOptions) {
    const { config, machine, hasWorker, cluster, log = silentLogger } = options;
    this.#options = options;
    this.monitor = new Monitor(config, { log, machine, metrics });
    options.bring?.(this.monitor.offers);
    const { store, clock } = this.monitor;
    this.#sources = sourcesOf({ store: () => store, clock: () => clock });
    this.#handler = handlerOf(healthListener, config, this.#sources);
    const { snapshot, policy, now } = this.#sources;
    const agents = new AgentHandlers({
      snapshot,
      policy,
      now,
      isStopping: () => false,
      isWithdrawn: () => false,
      onAnswer: () => {},
    });
    this.#agent = agents.handlerFor({ listener: { ...agentListener, cluster }, config, key: "agent" });
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
    this.#worker = hasWorker ? new VirtualWorker(this.monitor, { config, listener: healthListener, machine }) : null;
    store.onChange(() => this.#follower.clusterChanged(cluster));
  }

  /** Reads what an earlier run has saved. */
  async restore(): Promise<void> {
    await this.monitor.restore();
  }

  /** Starts as the program does. Resolves after the first round of probes. */
  async begin(): Promise<void> {
    this.#worker?.start();
    this.#follower.configure(
      this.#options.pushed.map((text) => poolOf(this.#options.cluster, text)),
      new Set(),
    );
    await this.monitor.start();
  }

  async stop(): Promise<void> {
    this.#follower.stop();
    await this.monitor.stop();
  }

  /** The address at which it probes a node. */
  addressOf(node: string): string | null {
    const state = clusterNamed(this.monitor.store.current, this.#options.cluster);
    return (state === undefined ? undefined : nodeNamed(state, node))?.node.api ?? null;
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
    const line = this.#agent(`${node} ${check}`, "127.0.0.1") || "";
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

function poolOf(cluster: string, text: string): Parameters<VerdictFollower["configure"]>[0][number] {
  const check = parseCheckTarget(text);
  if ("subject" in check) throw new Error(`Cannot push ${text}: it must be a check`);
  return { balancer: text, backend: "pool", cluster, check, servers: null, cutsSessions: false, weight: null };
}
