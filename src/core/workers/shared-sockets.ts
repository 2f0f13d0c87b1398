import type { SendHandle } from "node:child_process";
import { type BindTarget, closeBareSocket } from "../http/listener/bind-target.ts";
import type { ToWorker } from "./messages.ts";

/** A worker, and the keys of the sockets that it has. */
export interface SocketReceiver {
  readonly keys: Set<string>;
  readonly process: { send(message: ToWorker, socket: SendHandle): void } | null;
}

/** The copies of one listening socket that the main process has. */
interface Copies {
  /** Keeps the port open. Workers get copies of it. */
  readonly kept: SendHandle;
  /** The main process may listen on it. To stop listening closes it. */
  spare: SendHandle;
}

/**
 * The listening sockets of the workers, by the key of their listener. The main process holds them too, so that nobody
 * is refused when a worker exits.
 */
export class SharedSockets {
  readonly #sockets = new Map<string, Copies>();
  readonly #listening: (key: string) => SendHandle;

  /** @param listening the socket at which the main process listens itself */
  constructor(listening: (key: string) => SendHandle) {
    this.#listening = listening;
  }

  /** Takes a copy of a socket that listens already. Two are kept. */
  add(key: string, socket: SendHandle): void {
    const copies = this.#sockets.get(key);
    if (copies === undefined) this.#sockets.set(key, { kept: socket, spare: undefined });
    else if (copies.spare === undefined) copies.spare = socket;
    else closeBareSocket(socket);
  }

  /**
   * Hands out a copy to listen on. The next worker that opens the listener gives another one.
   * @returns `undefined` if nobody has opened the listener yet
   */
  take(key: string): BindTarget | undefined {
    const copies = this.#sockets.get(key);
    if (copies === undefined) return undefined;
    const handle = copies.spare ?? copies.kept;
    if (copies.spare === undefined) this.#sockets.delete(key);
    else copies.spare = undefined;
    return { handle };
  }

  /** Sends a worker those of the sockets under `keys` that are open and that it does not have. */
  sendTo(slot: SocketReceiver, keys: readonly string[]): void {
    for (const key of keys) {
      const socket = this.#sockets.get(key)?.kept ?? this.#listening(key);
      if (socket === undefined || slot.keys.has(key)) continue;
      slot.process?.send({ kind: "socket", key }, socket);
      slot.keys.add(key);
    }
  }

  /** Closes every socket but those under `keys`. */
  retain(keys: ReadonlySet<string>): void {
    for (const [key, { kept, spare }] of this.#sockets) {
      if (keys.has(key)) continue;
      closeBareSocket(kept);
      closeBareSocket(spare);
      this.#sockets.delete(key);
    }
  }
}
