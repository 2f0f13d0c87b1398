import type { SendHandle } from "node:child_process";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ListenerConfig } from "../config/model/config.ts";
import { ListenerSet, type OpenListener, type PreparedListeners } from "../http/listener/listener-set.ts";
import { keysOf } from "../http/listener/listener-keys.ts";
import { type FastPathCounts, sumFastPathCounts } from "../http/message/fast-path-counts.ts";
import type { ListenerEvents } from "../http/listener/listener-events.ts";
import type { ListenerHandler } from "../http/message/handler.ts";
import { socketOfDescriptor } from "../http/listener/bind-target.ts";
import type { Logger } from "../events/logger.ts";
import { WorkerPool, type WorkerPoolContext } from "../workers/worker-pool.ts";
import type { Phase } from "../workers/messages.ts";

/** What the entrances are wired to. */
export interface ListenerGroupContext {
  readonly log: Logger;
  readonly handlerFor: (listener: ListenerConfig) => ListenerHandler;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  readonly fullState: WorkerPoolContext["fullState"];
  readonly onContained: WorkerPoolContext["onContained"];
}

/** What the workers did, and used. */
export interface WorkerPoolUsage extends ReturnType<WorkerPool["usage"]> {}

/** All listeners: those in this process, and those that workers have where there are any. Operators' listeners are always here. */
export class ListenerGroup {
  readonly #own: ListenerSet;
  readonly #workers: WorkerPool | null;
  #keys: readonly string[] = [];

  /**
   * @param workers how many processes answer beside this one; 0: this one answers everything
   * @param inherited sockets that listen already, by the listener that each is for
   */
  constructor(
    workers: number,
    { log, handlerFor, eventsOf, fullState, onContained }: ListenerGroupContext,
    inherited: ReadonlyMap<string, SendHandle>,
  ) {
    const sockets = new Map(inherited);
    this.#own = new ListenerSet({
      handlerFor,
      eventsOf,
      placeOf: (key) => {
        const handle = sockets.get(key);
        return sockets.delete(key) ? { handle } : undefined;
      },
      fastPath: {
        mode: () => fullState().config.fastPath,
        onOff: (reason) => log.warn({ node: process.version, reason }, "fast path off"),
      },
    });
    const wires = { log, fullState, eventsOf, onContained, answererFor: handlerFor, sockets: inherited };
    this.#workers = workers === 0 ? null : new WorkerPool(workers, wires);
  }

  /** The doors that are open, with the ports they have, in the order of the configuration. */
  get listeners(): readonly OpenListener[] {
    const openListeners = [...this.#own.listeners, ...(this.#workers?.listeners ?? [])];
    return openListeners.toSorted((one, other) => this.#keys.indexOf(one.key) - this.#keys.indexOf(other.key));
  }

  /** Opens operators' listeners, and starts the workers, which answer nothing yet. @throws DoorError where one cannot be opened */
  async openAdmin(listeners: readonly ListenerConfig[]): Promise<void> {
    const prepared = await this.#own.prepare(listeners.filter(({ dialect }) => dialect === "admin"));
    await prepared.commit();
    await this.#workers?.start();
  }

  /**
   * Makes the open doors those of the configuration. All that can fail comes first; then `commit` is called, and every door has its handler.
   * @throws DoorError where one cannot be opened; then all is as it was, and `commit` was not called
   */
  async open(listeners: readonly ListenerConfig[], commit: () => void = () => {}): Promise<void> {
    const workers = this.#workers;
    const isOurs = ({ dialect }: ListenerConfig): boolean => workers === null || dialect === "admin";
    const own = await this.#own.prepare(listeners.filter(isOurs));
    let others: PreparedListeners | undefined;
    try {
      others = await workers?.prepare(listeners.filter((listener) => !isOurs(listener)));
    } catch (error) {
      await own.abandon();
      throw error;
    }
    workers?.settle();
    this.#keys = keysOf(listeners);
    commit();
    await Promise.all([own.commit(), others?.commit()]);
  }

  /** To be told of what changed the snapshot, and which one came of it. */
  record(outcome: ProbeOutcome, nowMs: number, sequence: number): void {
    this.#workers?.record(outcome, nowMs, sequence);
  }

  setPhase(phase: Phase): void {
    this.#workers?.setPhase(phase);
  }

  /** Has the workers say what they have done since. */
  async refresh(): Promise<void> {
    await this.#workers?.refreshReports();
  }

  /** What the workers answered. */
  answers(): ReturnType<WorkerPool["answers"]> {
    return this.#workers?.answers() ?? [];
  }

  /** What the fast path did, here and in the workers. */
  fastPathCounts(): FastPathCounts {
    return sumFastPathCounts([this.#own.fastPathCounts, ...(this.#workers?.fastPathCounts() ?? [])]);
  }

  /** What the workers used; `null` where there are none. */
  usage(): WorkerPoolUsage | null {
    return this.#workers?.usage() ?? null;
  }

  /** Closes everything; answers under way are finished. */
  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#workers?.stop()]);
  }
}

/** The inherited sockets by the key of their listener: the first is the first listener's, and so on. */
export function inheritedSockets(
  listeners: readonly ListenerConfig[],
  descriptors: readonly number[],
): ReadonlyMap<string, SendHandle> {
  const keys = keysOf(listeners);
  return new Map(
    descriptors.flatMap((fd, at) => (keys[at] === undefined ? [] : [[keys[at], socketOfDescriptor(fd)] as const])),
  );
}
