import type { SendHandle } from "node:child_process";
import { type BindTarget, closeBareSocket } from "../http/listener/bind-target.ts";
import type { WorkerSlot } from "./worker-slot.ts";

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

  /** Takes a copy of a socket that listens already. Two are kept. */
  add(key: string, socket: SendHandle): void {
    const copies = this.#sockets.get(key);
    if (copies === undefined) this.#sockets.set(key, { kept: socket, spare: undefined });
    else if (copies.spare === undefined) copies.spare = socket;
    else closeBareSocket(socket);
  }

  /**
   * Hands out a copy to listen on. The next worker that opens the listener gives another one.
   * @throws Error if there is none
   */
  takeSpare(key: string): BindTarget {
    const copies = this.#sockets.get(key);
    const spare = copies?.spare;
    if (copies === undefined || spare === undefined) throw new Error("no worker has shared the socket yet");
    copies.spare = undefined;
    return { handle: spare };
  }

  /** Sends a worker those of the sockets under `keys` that are open and that it does not have. */
  sendTo(slot: WorkerSlot, keys: readonly string[]): void {
    for (const key of keys) {
      const copies = this.#sockets.get(key);
      if (copies === undefined || slot.keys.has(key)) continue;
      slot.process?.send({ kind: "socket", key }, copies.kept);
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
