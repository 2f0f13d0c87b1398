import type { SendHandle } from "node:child_process";
import { closeBareSocket } from "../http/listener/bind-target.ts";
import type { WorkerSlot } from "./worker-slot.ts";

/**
 * The listening sockets of the workers, by the key of their listener. The main process holds them too, so that nobody
 * is refused when a worker exits: new connections wait for its successor.
 */
export class SharedSockets {
  readonly #sockets = new Map<string, SendHandle>();

  /** Takes a socket that listens already. */
  add(key: string, socket: SendHandle): void {
    this.#sockets.set(key, socket);
  }

  /** Sends a worker those of the sockets under `keys` that are open and that it does not have. */
  sendTo(slot: WorkerSlot, keys: readonly string[]): void {
    for (const key of keys) {
      const socket = this.#sockets.get(key);
      if (socket === undefined || slot.keys.has(key)) continue;
      slot.process?.send({ kind: "socket", key }, socket);
      slot.keys.add(key);
    }
  }

  /** Closes every socket but those under `keys`. */
  retain(keys: ReadonlySet<string>): void {
    for (const [key, socket] of this.#sockets) {
      if (keys.has(key)) continue;
      closeBareSocket(socket);
      this.#sockets.delete(key);
    }
  }
}
