import type { SendHandle } from "node:child_process";
import type { ListenerConfig } from "../../config/model/config.ts";
import type { ListenerHandler } from "../message/handler.ts";
import { Listener, type ListenerEvents } from "./listener.ts";
import type { BindTarget } from "./bind-target.ts";
import { errorReply, type Reply } from "../message/reply.ts";

/** How long answers under way may take after a door closed, in ms. */
const graceMs = 1_000;

/** An open listener and where it is. */
export interface OpenListener {
  /** Names it over reloads, and among processes. */
  readonly key: string;
  readonly config: ListenerConfig;
  /** The port it has; a free one where 0 was asked for. */
  readonly port: number;
}

/** A listener that could not be opened. */
export class ListenError extends Error {
  readonly code: string;
  readonly listener: ListenerConfig;
  override readonly cause: NodeJS.ErrnoException;

  constructor(listener: ListenerConfig, cause: NodeJS.ErrnoException) {
    const { address, port } = listener;
    const isOfSystem = cause.syscall !== undefined && cause.syscall !== "open" && cause.syscall !== "read";
    const needs = isOfSystem
      ? "it must be a free port of this machine"
      : "its files must be there and fit to each other";
    super(
      `Cannot listen on ${address}:${port} as ${needs}: ${isOfSystem ? (cause.code ?? cause.message) : cause.message}`,
    );
    this.name = "DoorError";
    this.code = cause.code ?? "";
    this.listener = listener;
    this.cause = cause;
  }
}

/** What doors are made with. */
export interface ListenerSetContext {
  readonly handlerFor: (config: ListenerConfig, key: string) => ListenerHandler;
  readonly eventsOf: (config: ListenerConfig) => ListenerEvents;
  /** Where a door listens that is not at its own address: a socket that listens already. */
  readonly placeOf?: (key: string, config: ListenerConfig) => BindTarget | undefined;
  /** Told of each socket that was opened here. */
  readonly onOpened?: (key: string, socket: SendHandle) => void;
}

/** Listeners that are ready to be put in force. All that can fail has been done. */
export interface PreparedListeners {
  /** The doors that will then be open. */
  readonly listeners: readonly OpenListener[];
  /** Puts them in force, in one step that no request can fall into; resolves when what is gone has closed. */
  commit(): Promise<void>;
  /** Leaves all as it was. */
  abandon(): Promise<void>;
}

interface Opening {
  readonly key: string;
  readonly config: ListenerConfig;
  readonly isInForce: boolean;
}

type OpenDoor = OpenListener & { readonly listener: Listener };

/** The listeners of this process. Over a reload those that stay keep their sockets, and new ones are open before old ones close. */
export class ListenerSet {
  readonly #context: ListenerSetContext;
  #open = new Map<string, OpenDoor>();

  constructor(context: ListenerSetContext) {
    this.#context = context;
  }

  get listeners(): readonly OpenListener[] {
    return [...this.#open.values()].map(plainDoor);
  }

  /**
   * Makes ready to have the doors of the configuration open, each answered by the handler made for it, and no others.
   * @param isInForce whether the configuration is in force already, so that what is opened may answer at once
   * @throws DoorError where one cannot be opened; then all is as it was
   */
  async prepare(configs: readonly ListenerConfig[], isInForce: boolean = false): Promise<PreparedListeners> {
    const next = new Map<string, OpenDoor>();
    const opened: Listener[] = [];
    const settlings: (() => void)[] = [];
    const abandon = async (): Promise<void> => void (await Promise.all(opened.map((listener) => listener.close(0))));
    for (const config of configs) {
      const key = keyOf(config, next);
      try {
        const kept = this.#open.get(key);
        if (kept === undefined) next.set(key, await this.#openDoor({ key, config, isInForce }, opened));
        else {
          settlings.push(kept.listener.prepare(config.access));
          next.set(key, { ...kept, config });
        }
      } catch (error) {
        await abandon();
        throw error instanceof Error ? new ListenError(config, error) : error;
      }
    }
    return { listeners: [...next.values()].map(plainDoor), commit: () => this.#commit(next, settlings), abandon };
  }

  async #openDoor({ key, config, isInForce }: Opening, opened: Listener[]): Promise<OpenDoor> {
    const { handlerFor, eventsOf, placeOf, onOpened } = this.#context;
    this.#refuseOtherTls(config);
    const listener = new Listener(isInForce ? handlerFor(config, key) : notYet, config.access, eventsOf(config));
    opened.push(listener);
    const port = await listener.open(placeOf?.(key, config) ?? config);
    onOpened?.(key, listener.socket);
    return { key, config, port, listener };
  }

  async #commit(next: Map<string, OpenDoor>, settlings: readonly (() => void)[]): Promise<void> {
    const gone = [...this.#open].filter(([key]) => !next.has(key)).map(([, { listener }]) => listener);
    for (const settle of settlings) settle();
    for (const { key, config, listener } of next.values()) listener.handleBy(this.#context.handlerFor(config, key));
    this.#open = next;
    await Promise.all(gone.map((listener) => listener.close(graceMs)));
  }

  /** A socket cannot be both plain and TLS while one takes the other's place. */
  #refuseOtherTls({ address, port }: ListenerConfig): void {
    const isOpen = [...this.#open.values()].some(
      ({ config }) => port !== 0 && config.address === address && config.port === port,
    );
    if (isOpen) throw new Error("taking up tls, giving it up, and tls.client on an open port need a restart");
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ listener }) => listener.close(graceMs)));
    this.#open.clear();
  }
}

function plainDoor({ key, config, port }: OpenDoor): OpenListener {
  return { key, config, port };
}

/** A door that is open before the configuration it belongs to is in force. */
function notYet(): Promise<Reply> {
  return Promise.resolve(
    errorReply(503, "starting", { message: "Cannot answer yet: the configuration is just being taken" }),
  );
}

/** The keys of listeners, in their order. */
export function keysOf(configs: readonly ListenerConfig[]): readonly string[] {
  const keys = new Map<string, ListenerConfig>();
  for (const config of configs) keys.set(keyOf(config, keys), config);
  return [...keys.keys()];
}

/**
 * What a listener is known by over a reload: its place, and whether it speaks TLS: a door that takes that up, or gives it up, is another
 * one. Port 0 is another port each time, so those count by their dialect and order.
 */
function keyOf({ address, port, dialect, access }: ListenerConfig, taken: ReadonlyMap<string, unknown>): string {
  const place = `${address} ${port} ${access.tls === null ? "plain" : "tls"} ${access.tls?.client ?? ""}`;
  if (port !== 0) return place;
  let nth = 0;
  while (taken.has(`${place} ${dialect} ${nth}`)) nth += 1;
  return `${place} ${dialect} ${nth}`;
}
