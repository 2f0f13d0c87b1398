import type { ListenerConfig } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import type { ListenerSet } from "../http/listener/listener-set.ts";

/** What a stand-in depends on. */
export interface StandInContext {
  readonly log: Logger;
  /** Listeners of the main process that open on the workers' sockets. None of them is open. */
  readonly listeners: ListenerSet;
}

const none: readonly ListenerConfig[] = [];

/**
 * The main process in the place of the workers: a worker needs about half a second to start, and while none answers
 * the main process answers at their listeners.
 */
export class StandIn {
  readonly #context: StandInContext;
  #wanted: readonly ListenerConfig[] = none;
  /** Changes are made one after the other. */
  #changed: Promise<void> = Promise.resolve();

  constructor(context: StandInContext) {
    this.#context = context;
  }

  /**
   * Answers at these listeners of the workers, and at no others. Opening takes no longer than one turn of the event
   * loop. A listener that cannot be opened is logged: its clients wait for a worker.
   * @param configs the same array as in the last call changes nothing
   */
  answerAt(configs: readonly ListenerConfig[]): void {
    if (configs === this.#wanted) return;
    this.#wanted = configs;
    this.#changed = this.#changed.then(() => this.#change(configs));
  }

  /** Answers nowhere. */
  rest(): void {
    this.answerAt(none);
  }

  /** Answers nowhere from now on. Resolves when the answers in flight are finished. */
  close(): Promise<void> {
    this.#wanted = none;
    return this.#context.listeners.close();
  }

  async #change(configs: readonly ListenerConfig[]): Promise<void> {
    if (configs !== this.#wanted) return;
    const { log, listeners } = this.#context;
    if (configs.length === 0 && listeners.listeners.length === 0) return;
    try {
      const prepared = await listeners.prepare(configs, true);
      // The next change must not wait until the last connections have closed.
      void prepared.commit();
      if (configs.length === 0) log.info("a worker answers again");
      else log.warn({ listeners: configs.length }, "no worker answers: the main process answers in their place");
    } catch (error) {
      if (configs !== this.#wanted) return;
      this.#wanted = none;
      log.error({ err: error }, "no worker answers, and the main process cannot: clients wait for the next worker");
    }
  }
}
