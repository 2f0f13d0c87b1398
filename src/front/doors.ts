import type { ListenerConfig } from "../config/config.ts";
import { Listener, type Handler, type ListenerEvents } from "./listener.ts";
import { errorReply, type Reply } from "./reply.ts";

/** How long answers under way may take after a door closed, in ms. */
const graceMs = 1_000;

/** An open listener and where it is. */
export interface Door {
  readonly config: ListenerConfig;
  /** The port it has; a free one where 0 was asked for. */
  readonly port: number;
}

/** A listener that could not be opened. */
export class DoorError extends Error {
  readonly code: string;

  constructor({ address, port }: ListenerConfig, cause: NodeJS.ErrnoException) {
    const isOfSystem = cause.syscall !== undefined && cause.syscall !== "open" && cause.syscall !== "read";
    const needs = isOfSystem ? "it must be a free port of this machine" : "its files must be there and fit to each other";
    super(`Cannot listen on ${address}:${port} as ${needs}: ${isOfSystem ? (cause.code ?? cause.message) : cause.message}`);
    this.name = "DoorError";
    this.code = cause.code ?? "";
  }
}

/** All listeners. Over a reload those that stay keep their sockets, and new ones are open before old ones close. */
export class Doors {
  readonly #events: (config: ListenerConfig) => ListenerEvents;
  readonly #inherited: Map<ListenerConfig, number>;
  #open = new Map<string, Door & { readonly listener: Listener }>();

  /** @param inherited file descriptors of sockets passed by systemd, by the listener that each is for */
  constructor(events: (config: ListenerConfig) => ListenerEvents, inherited: ReadonlyMap<ListenerConfig, number> = new Map()) {
    this.#events = events;
    this.#inherited = new Map(inherited);
  }

  get doors(): readonly Door[] {
    return [...this.#open.values()];
  }

  /**
   * Makes the open doors those of the configuration, each answered by the handler made for it. All that can fail comes first: then, in
   * one step that no request can fall into, `commit` is called, the handlers are made and every door has its own.
   * @throws DoorError where one cannot be opened; then all is as it was, and `commit` was not called
   */
  async apply(
    configs: readonly ListenerConfig[],
    handlerFor: (config: ListenerConfig) => Handler,
    commit: () => void = () => {},
  ): Promise<void> {
    const next = new Map<string, Door & { readonly listener: Listener }>();
    const opened: Listener[] = [];
    const settlings: (() => void)[] = [];
    for (const config of configs) {
      const key = keyOf(config, next);
      try {
        const kept = this.#open.get(key);
        if (kept !== undefined) {
          settlings.push(kept.listener.prepare(config.door));
          next.set(key, { ...kept, config });
          continue;
        }
        this.#refuseOtherTls(config);
        const listener = new Listener(notYet, config.door, this.#events(config));
        opened.push(listener);
        const fd = this.#inherited.get(config);
        this.#inherited.delete(config);
        next.set(key, { config, port: await listener.open(fd === undefined ? config : { fd }), listener });
      } catch (error) {
        await Promise.all(opened.map((other) => other.close(0)));
        throw error instanceof Error ? new DoorError(config, error) : error;
      }
    }
    commit();
    const gone = [...this.#open].filter(([key]) => !next.has(key)).map(([, { listener }]) => listener);
    for (const settle of settlings) settle();
    for (const { config, listener } of next.values()) listener.handleBy(handlerFor(config));
    this.#open = next;
    await Promise.all(gone.map((listener) => listener.close(graceMs)));
  }

  /** A socket cannot be both plain and TLS while one takes the other's place. */
  #refuseOtherTls({ address, port }: ListenerConfig): void {
    const isOpen = [...this.#open.values()].some(({ config }) => port !== 0 && config.address === address && config.port === port);
    if (isOpen) throw new Error("taking up tls, giving it up, and tls.client on an open port need a restart");
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ listener }) => listener.close(graceMs)));
    this.#open.clear();
  }
}

/** A door that is open before the configuration it belongs to is in force. */
function notYet(): Reply {
  return errorReply(503, "starting", { message: "Cannot answer yet: the configuration is just being taken" });
}

/**
 * What a listener is known by over a reload: its place, and whether it speaks TLS: a door that takes that up, or gives it up, is another
 * one. Port 0 is another port each time, so those count by their dialect and order.
 */
function keyOf({ address, port, dialect, door }: ListenerConfig, taken: ReadonlyMap<string, Door>): string {
  const place = `${address} ${port} ${door.tls === null ? "plain" : "tls"} ${door.tls?.client ?? ""}`;
  if (port !== 0) return place;
  let nth = 0;
  while (taken.has(`${place} ${dialect} ${nth}`)) nth += 1;
  return `${place} ${dialect} ${nth}`;
}
