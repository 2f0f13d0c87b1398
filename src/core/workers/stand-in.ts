import type { SendHandle } from "node:child_process";
import type { ListenerConfig } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import type { ListenerSet, PreparedListeners } from "../http/listener/listener-set.ts";
import type { FastPathCounts } from "../http/message/fast-path-counts.ts";

/** What a stand-in depends on. */
export interface StandInContext {
  readonly log: Logger;
  /** Listeners of the main process, on the workers' sockets if there are any. None of them is open. */
  readonly listeners: ListenerSet;
}

const none: readonly ListenerConfig[] = [];

/**
 * The main process in the place of the workers: a worker needs about half a second to start, and while none answers, or
 * none is wanted, the main process answers at their listeners.
 */
export class StandIn {
  readonly #context: StandInContext;
  #wanted: readonly ListenerConfig[] = none;
  /** Changes are made one after the other. */
  #changed: Promise<void> = Promise.resolve();

  constructor(context: StandInContext) {
    this.#context = context;
  }

  /** The socket at which it listens. */
  socketOf(key: string): SendHandle {
    return this.#context.listeners.socketOf(key);
  }

  /** What the fast path of the main process did at these listeners. */
  get fastPathCounts(): FastPathCounts {
    return this.#context.listeners.fastPathCounts;
  }

  /**
   * Answers at these listeners of the workers, and at no others. Opening takes no longer than one turn of the event
   * loop. A listener that cannot be opened is logged: its clients wait for a worker.
   * @param configs the same array as in the last call changes nothing
   * @param why `lost`: no worker answers; `unwanted`: none is wanted
   * @returns whether it answers there
   */
  async answerAt(configs: readonly ListenerConfig[], why: "lost" | "unwanted" = "lost"): Promise<boolean> {
    if (configs !== this.#wanted) {
      this.#wanted = configs;
      this.#changed = this.#changed.then(() => this.#open(configs, why));
    }
    await this.#changed;
    return this.#wanted === configs;
  }

  /** Answers nowhere: workers do. Each of its connections gets one more answer. */
  rest(): void {
    if (this.#wanted === none) return;
    this.#wanted = none;
    this.#changed = this.#changed.then(() => this.#leave());
  }

  /**
   * Opens the listeners of another configuration. `answerAt` must name none but those in force, and `rest` must not be
   * called, before that is put in force or abandoned.
   * @throws ListenError if a listener cannot be opened
   */
  async prepare(configs: readonly ListenerConfig[]): Promise<PreparedListeners> {
    await this.#changed;
    const prepared = await this.#context.listeners.prepare(configs);
    const commit = (): Promise<void> => {
      this.#wanted = configs;
      return prepared.commit();
    };
    return { ...prepared, commit };
  }

  /** Connections that are open at listeners where workers answer follow this configuration. */
  follow(configs: readonly ListenerConfig[]): void {
    this.#context.listeners.follow(configs);
  }

  /** Answers nowhere from now on. Resolves when the answers in flight are finished. */
  close(): Promise<void> {
    this.#wanted = none;
    return this.#context.listeners.close();
  }

  async #open(configs: readonly ListenerConfig[], why: "lost" | "unwanted"): Promise<void> {
    if (configs !== this.#wanted) return;
    const { log, listeners } = this.#context;
    try {
      const prepared = await listeners.prepare(configs, true);
      // The next change must not wait until the last connections have closed.
      void prepared.commit();
      if (why === "lost")
        log.warn({ listeners: configs.length }, "no worker answers: the main process answers in their place");
      else log.info("no workers are wanted: the main process answers");
    } catch (error) {
      if (configs !== this.#wanted) return;
      this.#wanted = none;
      log.error({ err: error }, "no worker answers, and the main process cannot: clients wait for the next worker");
    }
  }

  #leave(): void {
    const { log, listeners } = this.#context;
    if (this.#wanted !== none || listeners.listeners.length === 0) return;
    void listeners.handOver();
    log.info("workers answer");
  }
}
