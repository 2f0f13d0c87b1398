import type { SendHandle } from "node:child_process";
import type { ListenerConfig } from "../../config/model/config.ts";
import { exposureProblem } from "../access/exposure.ts";
import { FastPathControl, type FastPathSettings } from "../fast-path/fast-path-control.ts";
import type { FastPathCounts } from "../message/fast-path-counts.ts";
import type { ListenerHandler } from "../message/handler.ts";
import { errorReply, type Reply } from "../message/reply.ts";
import type { BindTarget } from "./bind-target.ts";
import { ListenError, settingsError } from "./listen-error.ts";
import type { ListenerEvents } from "./listener-events.ts";
import { isHttpDialect } from "./http-dialects.ts";
import { keysOf, listenerKey } from "./listener-keys.ts";
import { type AdmittedConnection, ConnectionListener } from "./connection-listener.ts";
import { Listener } from "./listener.ts";
import type { SocketListener } from "./socket-listener.ts";

/** How long running requests may take after their listener was closed, in ms. */
const graceMs = 1_000;
/** How long the connections of a listener that was left to other processes may wait for their next request, in ms. */
export const leavingMaxMs = 60_000;

/** An open listener and its port. */
export interface OpenListener {
  /** Identifies it over reloads, and among processes. */
  readonly key: string;
  readonly config: ListenerConfig;
  /** The port: a free one if the configuration says 0. */
  readonly port: number;
}

/** What listeners are made with. */
export interface ListenerSetContext {
  readonly handlerFor: (config: ListenerConfig, key: string) => ListenerHandler;
  /** What speaks on listeners without HTTP. Absent where none are opened. */
  readonly dialects?: ConnectionDialects;
  readonly eventsOf: (config: ListenerConfig) => ListenerEvents;
  /** The socket of a listener that listens already; `undefined` for one that is to be opened at its own address. */
  readonly listeningSocketOf?: (key: string, config: ListenerConfig) => BindTarget | undefined;
  /** Called with each socket that was opened here. */
  readonly onOpened?: (key: string, socket: SendHandle) => void;
  /** Absent: the fast path is off. */
  readonly fastPath?: FastPathSettings;
}

/** Listeners that are ready to be put in force. Everything that can fail has been done. */
export interface PreparedListeners {
  /** The listeners that will be open then. */
  readonly listeners: readonly OpenListener[];
  /**
   * Puts them in force, in one step between two requests. Resolves when listeners that are no longer configured have
   * closed.
   */
  commit(): Promise<void>;
  /** Closes what was opened, or leaves it to other processes if it has answered. The listeners in force stay. */
  abandon(): Promise<void>;
}

/** The dialects without HTTP, which features speak. */
export interface ConnectionDialects {
  /** The name of a dialect's protocol in TLS (ALPN); `undefined`: it has none. */
  readonly alpnOf: (dialect: ListenerConfig["dialect"]) => string | undefined;
  /** What speaks on a listener from when its configuration is in force. */
  readonly handlerFor: (config: ListenerConfig, key: string) => ConnectionHandler;
}

/** Speaks on a connection that was admitted. */
export type ConnectionHandler = (connection: AdmittedConnection) => void;

interface Opening {
  readonly key: string;
  readonly config: ListenerConfig;
  readonly isInForce: boolean;
}

type ManagedListener = OpenListener & HandledListener;

/** A listener, and how it gets into force. */
interface HandledListener {
  readonly listener: SocketListener;
  /** Makes it answer by the configuration in force. */
  readonly enforce: (config: ListenerConfig) => void;
  readonly startFastPath: (control: FastPathControl) => Promise<void>;
}

/**
 * The listeners of this process. Over a reload unchanged ones keep their sockets, and new ones open before old ones
 * close.
 */
export class ListenerSet {
  readonly #context: ListenerSetContext;
  readonly #fastPath: FastPathControl;
  #open = new Map<string, ManagedListener>();
  /** Those that were left to other processes, as long as they have connections, and when they have none. */
  readonly #leaving = new Map<ManagedListener, Promise<void>>();
  #isClosed = false;

  constructor(context: ListenerSetContext) {
    this.#context = context;
    this.#fastPath = new FastPathControl(context.fastPath ?? { mode: () => false, onDisabled: () => {} });
  }

  get listeners(): readonly OpenListener[] {
    return [...this.#open.values()].map(withoutListener);
  }

  /** What the fast path of this process did. */
  get fastPathCounts(): FastPathCounts {
    return this.#fastPath.monitor.counts;
  }

  /**
   * Opens the configured listeners that are not open yet.
   * @param isInForce whether the configuration is in force already, so that what is opened may answer at once
   * @throws ListenError if one cannot be opened, or the set is closed; then nothing has changed
   */
  async prepare(configs: readonly ListenerConfig[], isInForce: boolean = false): Promise<PreparedListeners> {
    const next = new Map<string, ManagedListener>();
    const opened = new Set<SocketListener>();
    const accessChanges: (() => void)[] = [];
    const abandon = async (): Promise<void> => {
      // What has answered already has connections.
      if (isInForce) for (const each of next.values()) if (opened.delete(each.listener)) this.#leave(each);
      await Promise.all([...opened].map((listener) => listener.close(0)));
    };
    for (const config of configs) {
      const key = listenerKey(config, next);
      try {
        const kept = this.#open.get(key);
        if (kept === undefined) next.set(key, await this.#openListener({ key, config, isInForce }, opened));
        else {
          refuseExposure(config, kept.listener);
          accessChanges.push(kept.listener.prepare(config.access));
          next.set(key, { ...kept, config });
        }
      } catch (error) {
        await abandon();
        throw error instanceof Error ? new ListenError(config, error) : error;
      }
    }
    const listeners = [...next.values()].map(withoutListener);
    const commit = (): Promise<void> => (this.#isClosed ? abandon() : this.#commit(next, accessChanges));
    return { listeners, commit, abandon };
  }

  /** The socket of an open listener, for another process to listen on too. */
  socketOf(key: string): SendHandle {
    return this.#open.get(key)?.listener.socket;
  }

  /**
   * Leaves the listeners to other processes, which listen at the same sockets. Each connection gets one more answer,
   * which says that it will be closed. Resolves when all have ended; those that send nothing for a minute are closed.
   */
  async handOver(): Promise<void> {
    const leaving = [...this.#open.values()];
    this.#open = new Map();
    for (const each of leaving) this.#leave(each);
    await Promise.all(this.#leaving.values());
  }

  /**
   * Lets the connections of listeners that were left to other processes follow a configuration. Those of a listener
   * that it does not have are closed.
   */
  follow(configs: readonly ListenerConfig[]): void {
    const byKey = new Map(keysOf(configs).map((key, at) => [key, configs[at]]));
    for (const { key, listener, enforce } of this.#leaving.keys()) {
      const config = byKey.get(key);
      try {
        if (config === undefined) throw settingsError("it must be configured");
        listener.prepare(config.access)();
        enforce(config);
      } catch {
        // It is not configured any more, or its files cannot be read.
        void listener.close(graceMs);
      }
    }
  }

  /**
   * Closes all listeners. What is still being prepared is abandoned, and nothing is opened afterwards. Running requests
   * may finish within 1 s.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open.values(), ...this.#leaving.keys()].map(({ listener }) => listener.close(graceMs)));
    this.#open.clear();
  }

  async #openListener({ key, config, isInForce }: Opening, opened: Set<SocketListener>): Promise<ManagedListener> {
    const { listeningSocketOf, onOpened } = this.#context;
    const created = this.#create(config, key);
    const { listener, enforce } = created;
    if (isInForce) enforce(config);
    opened.add(listener);
    this.#refuseIfClosed();
    const port = await listener.open(listeningSocketOf?.(key, config) ?? config);
    this.#refuseIfClosed();
    refuseExposure(config, listener);
    onOpened?.(key, listener.socket);
    return { key, config, port, ...created };
  }

  /** @throws Error if the listeners were closed meanwhile */
  #refuseIfClosed(): void {
    if (this.#isClosed) throw settingsError("the process must not be stopping");
  }

  #create(config: ListenerConfig, key: string): HandledListener {
    return isHttpDialect(config.dialect)
      ? this.#createHttpListener(config, key)
      : this.#createConnectionListener(config, key);
  }

  #createHttpListener({ access, ...rest }: ListenerConfig, key: string): HandledListener {
    const { handlerFor, eventsOf } = this.#context;
    const listener = new Listener(notInForce, access, eventsOf({ access, ...rest }));
    return {
      listener,
      enforce: (config) => listener.handleBy(handlerFor(config, key)),
      startFastPath: (control) => listener.startFastPath(control),
    };
  }

  #createConnectionListener(config: ListenerConfig, key: string): HandledListener {
    const { dialects, eventsOf } = this.#context;
    const alpn = dialects?.alpnOf(config.dialect);
    let handler = closeUntilInForce;
    const converse = (connection: AdmittedConnection): void => handler(connection);
    const protocol = alpn === undefined ? { converse } : { alpn, converse };
    return {
      listener: new ConnectionListener(protocol, config.access, eventsOf(config)),
      enforce: (inForce) => {
        if (dialects !== undefined) handler = dialects.handlerFor(inForce, key);
      },
      startFastPath: () => Promise.resolve(),
    };
  }

  async #commit(next: Map<string, ManagedListener>, accessChanges: readonly (() => void)[]): Promise<void> {
    const removed = [...this.#open].filter(([key]) => !next.has(key)).map(([, { listener }]) => listener);
    for (const change of accessChanges) change();
    for (const { config, enforce } of next.values()) enforce(config);
    this.#open = next;
    await Promise.all([
      ...removed.map((listener) => listener.close(graceMs)),
      ...[...next.values()].map(({ startFastPath }) => startFastPath(this.#fastPath)),
    ]);
  }

  #leave(leaving: ManagedListener): void {
    this.#leaving.set(leaving, this.#untilLeft(leaving));
  }

  async #untilLeft(leaving: ManagedListener): Promise<void> {
    const { listener } = leaving;
    const timer = setTimeout(() => void listener.close(graceMs), leavingMaxMs).unref();
    await listener.leave();
    clearTimeout(timer);
    await listener.close(0);
    this.#leaving.delete(leaving);
  }
}

/** The client connects again until the configuration is in force. */
const closeUntilInForce: ConnectionHandler = ({ socket }) => void socket.destroy();

function withoutListener({ key, config, port }: ManagedListener): OpenListener {
  return { key, config, port };
}

/**
 * Refuses a listener whose clients can make changes on an address where they are not restricted. It is open by then,
 * and answers `notInForce` until it is closed again.
 * @throws Error that names the address
 */
function refuseExposure(config: ListenerConfig, { boundAddress }: SocketListener): void {
  const problem = exposureProblem(config, boundAddress);
  if (problem !== null) throw settingsError(problem);
}

/** Answers on a listener that is open before its configuration is in force. */
function notInForce(): Promise<Reply> {
  return Promise.resolve(
    errorReply(503, "starting", { message: "Cannot answer: the configuration is not in force yet" }),
  );
}
