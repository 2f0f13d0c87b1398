import type { SendHandle } from "node:child_process";
import type { AskedNode } from "../core/cluster/asked-node.ts";
import type { ListenerConfig } from "../core/config/model/config.ts";
import type { Logger } from "../core/log/logger.ts";
import { socketOfDescriptor } from "../core/http/listener/bind-target.ts";
import type { ListenerEvents } from "../core/http/listener/listener-events.ts";
import { ListenError, settingsError } from "../core/http/listener/listen-error.ts";
import { isHttpDialect } from "../core/http/listener/http-dialects.ts";
import { keysOf } from "../core/http/listener/listener-keys.ts";
import {
  ListenerSet,
  type OpenListener,
  type PreparedListeners,
  type ConnectionDialects,
} from "../core/http/listener/listener-set.ts";
import { type FastPathCounts, sumFastPathCounts } from "../core/http/message/fast-path-counts.ts";
import type { BackendCount } from "../core/http/message/server-census.ts";
import type { RequestedLimit } from "../core/http/message/limit-census.ts";
import type { ListenerHandler } from "../core/http/message/handler.ts";
import type { Store } from "../core/state/store.ts";
import type { Phase } from "../core/workers/messages.ts";
import { WorkerPool, type WorkerPoolContext } from "../core/workers/worker-pool.ts";

/** What all listeners depend on. */
export interface ListenerGroupContext {
  readonly log: Logger;
  /** How many processes answer in addition to this one, as it is configured now; 0: this one answers everything. */
  readonly workers: () => number;
  /** File descriptors of sockets that listen already: the first one belongs to the first listener, and so on. */
  readonly inherited: readonly number[];
  readonly handlerFor: (listener: ListenerConfig) => ListenerHandler;
  readonly dialects: ConnectionDialects;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  readonly fullState: WorkerPoolContext["fullState"];
  /** Called with an error that only the process-wide handler of a worker caught. */
  readonly onContained: WorkerPoolContext["onContained"];
}

/** Listeners of a configuration that are open, and not in force yet. */
export interface PreparedGroup {
  /**
   * Puts them in force and closes all others. First calls `enforce`, which puts the rest of the configuration in force;
   * every listener gets its handler then. Resolves when the others have closed.
   */
  commit(enforce: () => void): Promise<void>;
  /** Closes what was opened. The listeners in force stay. */
  abandon(): Promise<void>;
}

/** What the workers did, and what they used of the machine. */
export type WorkerPoolUsage = NonNullable<ReturnType<WorkerPool["usage"]>>;

/**
 * The listeners of this process and of its workers. Admin listeners, and those without HTTP, always belong to this process: an
 * agent remembers its answers, and the clients of an xds listener share what was encoded; workers do not share these.
 */
export class ListenerGroup {
  readonly #own: ListenerSet;
  readonly #workers: WorkerPool;
  readonly #workerCount: () => number;
  readonly #inherited: readonly number[];
  /** Inherited sockets that no listener of this process uses yet, by the key of their listener. */
  readonly #sockets = new Map<string, SendHandle>();
  #keys: readonly string[] = [];
  #configured: readonly ListenerConfig[] = [];

  constructor(group: ListenerGroupContext) {
    const { log, workers, inherited, handlerFor, dialects, eventsOf, fullState, onContained } = group;
    this.#inherited = inherited;
    this.#own = new ListenerSet({
      handlerFor,
      dialects,
      eventsOf,
      listeningSocketOf: (key) => this.#takeSocket(key),
    });
    const listenersOn: WorkerPoolContext["listenersOn"] = (socketOf) =>
      new ListenerSet({
        handlerFor,
        eventsOf,
        listeningSocketOf: socketOf,
        fastPath: {
          mode: () => fullState().config.fastPath,
          onDisabled: (reason) => log.warn({ node: process.version, reason }, "fast path off"),
        },
      });
    this.#workers = new WorkerPool({ log, fullState, eventsOf, onContained, handlerFor, listenersOn });
    this.#workerCount = workers;
  }

  /** The open listeners with the ports that they have, in the order of the configuration. */
  get listeners(): readonly OpenListener[] {
    const open = [...this.#own.listeners, ...this.#workers.listeners];
    return open.toSorted((one, other) => this.#keys.indexOf(one.key) - this.#keys.indexOf(other.key));
  }

  /** The port that a listener of the configuration in force is bound to; 0 if it is not open. */
  portOf(listener: ListenerConfig): number {
    const key = this.#keys[this.#configured.indexOf(listener)];
    // By key, because the open listeners of workers have a copy of the configuration.
    return this.listeners.find((open) => open.key === key)?.port ?? 0;
  }

  /**
   * Opens the admin listeners, and starts the workers, which answer nothing before the first `commit`.
   * @throws ListenError if a listener cannot be opened
   */
  async openAdmin(listeners: readonly ListenerConfig[]): Promise<void> {
    this.#adoptInherited(listeners);
    const prepared = await this.#own.prepare(listeners.filter(({ dialect }) => dialect === "admin"));
    await prepared.commit();
    await this.resize();
  }

  /**
   * Opens the listeners of a configuration that are not open yet. Nothing has changed before `commit`.
   * @throws ListenError if a listener cannot be opened, or if an open one would change what a reload cannot change;
   *   nothing has changed then
   */
  async prepare(listeners: readonly ListenerConfig[]): Promise<PreparedGroup> {
    const workers = this.#workers;
    this.#requireUnchangedProtocols(listeners);
    const own = await this.#own.prepare(listeners.filter((listener) => this.#isOwn(listener)));
    let others: PreparedListeners;
    try {
      others = await workers.prepare(listeners.filter((listener) => !this.#isOwn(listener)));
    } catch (error) {
      await own.abandon();
      throw error;
    }
    return {
      commit: async (enforce) => {
        // The workers must get outcomes of the old configuration before the new one.
        workers.flush();
        this.#keys = keysOf(listeners);
        this.#configured = listeners;
        enforce();
        await Promise.all([own.commit(), others.commit()]);
      },
      abandon: async () => void (await Promise.all([own.abandon(), others.abandon()])),
    };
  }

  /** Lets as many workers answer as are wanted now: how many nodes there are is known after the first round of probes. */
  async resize(): Promise<void> {
    await this.#workers.resize(this.#workerCount());
  }

  /** Passes on to the workers what changes the snapshot of a store. @returns ends it */
  follow(store: Pick<Store, "onOutcome" | "onAdoption">): () => void {
    const ends = [
      store.onOutcome((...recorded) => this.#workers.record(...recorded)),
      store.onAdoption((...adopted) => this.#workers.adopt(...adopted)),
    ];
    return () => ends.forEach((end) => end());
  }

  /** Sends the phase of the main process to the workers. */
  setPhase(phase: Phase): void {
    this.#workers.setPhase(phase);
  }

  /** Requests new reports from the workers. The methods below return figures of the newest reports. */
  async refresh(): Promise<void> {
    await this.#workers.refreshReports();
  }

  /** How many requests the workers answered. */
  answers(): ReturnType<WorkerPool["answers"]> {
    return this.#workers.answers();
  }

  /** How many checks the workers answered, by the HAProxy server that sent them. */
  backends(): readonly BackendCount[] {
    return this.#workers.reports().flatMap(({ backends }) => backends);
  }

  /** The limits for lag in the checks that the workers answered. */
  limits(): readonly RequestedLimit[] {
    return this.#workers.reports().flatMap(({ limits }) => limits);
  }

  /** The nodes that the checks which the workers answered asked for. */
  asked(): readonly AskedNode[] {
    return this.#workers.reports().flatMap(({ asked }) => asked);
  }

  /** What the fast path did, here and in the workers. */
  fastPathCounts(): FastPathCounts {
    return sumFastPathCounts(this.#workers.fastPathCounts());
  }

  /** What the workers used of the machine; `null` if there are none. */
  usage(): WorkerPoolUsage | null {
    return this.#workers.usage();
  }

  /** Closes everything; it cannot be opened again. Answers in flight are finished. */
  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#workers.stop()]);
  }

  /** Ends the workers at once. */
  kill(): void {
    this.#workers.kill();
  }

  /** Hands each inherited socket to the process that answers on it. */
  #adoptInherited(listeners: readonly ListenerConfig[]): void {
    const keys = keysOf(listeners);
    for (const [at, fd] of this.#inherited.entries()) {
      const [key, listener] = [keys[at], listeners[at]];
      if (key === undefined || listener === undefined) continue;
      const socket = socketOfDescriptor(fd);
      if (this.#isOwn(listener)) this.#sockets.set(key, socket);
      else this.#workers.adoptSocket(key, socket);
    }
  }

  #isOwn({ dialect }: ListenerConfig): boolean {
    return dialect === "admin" || !isHttpDialect(dialect);
  }

  /**
   * Refuses a listener on an open port if its protocol (a part of its key) or its process would change: the new
   * listener opens before the old one closes, and a socket cannot serve two protocols or two processes.
   */
  #requireUnchangedProtocols(listeners: readonly ListenerConfig[]): void {
    const open = this.listeners;
    for (const [at, key] of keysOf(listeners).entries()) {
      const config = listeners[at];
      if (config === undefined || config.port === 0) continue;
      const { address, port, dialect } = config;
      const before = open.find((other) => other.config.address === address && other.config.port === port);
      if (before === undefined) continue;
      if (before.key !== key || (before.config.dialect === "admin") !== (dialect === "admin"))
        throw new ListenError(
          config,
          settingsError(
            "a reload must not switch tls on or off, change tls.client, or change dialect from or to admin, agent or xds",
          ),
        );
    }
  }

  #takeSocket(key: string): { readonly handle: SendHandle } | undefined {
    const handle = this.#sockets.get(key);
    return this.#sockets.delete(key) ? { handle } : undefined;
  }
}
