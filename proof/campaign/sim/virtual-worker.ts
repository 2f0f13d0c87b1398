import type { Machine } from "../../../src/app/machine/machine.ts";
import type { Monitor } from "../../../src/app/monitor.ts";
import { fullStateOf } from "../../../src/app/worker/full-state.ts";
import { WorkerState } from "../../../src/app/worker/worker-state.ts";
import type { Config, ListenerConfig } from "../../../src/core/config/model/config.ts";
import type { ListenerHandler } from "../../../src/core/http/message/handler.ts";
import { Clock } from "../../../src/core/state/clock.ts";
import { OutcomeFeed } from "../../../src/core/workers/outcome-feed.ts";
import { copiedMessage } from "./copied-message.ts";
import { handlerOf, sourcesOf } from "./virtual-listener.ts";

/** How often a worker looks for a gap of its clock, in ms. */
const workerTickMs = 1_000;

/** What a worker is made with. */
export interface WorkerOptions {
  readonly config: Config;
  /** The listener that it answers. */
  readonly listener: ListenerConfig;
  readonly machine: Machine;
}

/** A worker that follows the main process: it gets each outcome as a message, and answers from its own copy. */
export class VirtualWorker {
  readonly handler: ListenerHandler;
  readonly #state: WorkerState;
  readonly #monitor: Monitor;
  readonly #config: Config;
  readonly #feed: OutcomeFeed;
  readonly #setTimer: Machine["setTimer"];

  constructor(monitor: Monitor, { config, listener, machine }: WorkerOptions) {
    this.#monitor = monitor;
    this.#config = config;
    this.#setTimer = machine.setTimer;
    const clock = (): Clock => new Clock({ ...machine.time, tickIntervalMs: Infinity, onGap: () => {} });
    this.#state = new WorkerState(clock);
    const sources = sourcesOf({ store: () => this.#state.store, clock: () => this.#state.clock });
    this.handler = handlerOf(listener, config, sources);
    this.#feed = new OutcomeFeed((changes) => {
      const message = { kind: "changes" as const, changes, clock: monitor.clock.observeReading() };
      // As between processes: the message is copied.
      if (!this.#state.record(copiedMessage(message))) this.#load();
    }, machine.setTimer);
  }

  get sequence(): number {
    return this.#state.store.current.sequence;
  }

  start(): void {
    this.#load();
    this.#tick();
    this.#monitor.store.onOutcome((outcome, nowMs, sequence) => this.#feed.add(outcome, nowMs, sequence));
  }

  #tick(): void {
    this.#setTimer(() => {
      this.#state.tick();
      this.#tick();
    }, workerTickMs);
  }

  #load(): void {
    this.#feed.flushAndReset();
    const state = fullStateOf({ monitor: this.#monitor, config: this.#config, phase: "serving" });
    this.#state.load({ ...structuredClone(state), relay: { port: 0, secret: "" } });
  }
}
