import { closeBareSocket } from "../http/listener/bind-target.js";
/**
 * The listening sockets of the workers, by the key of their listener. The main process holds them too, so that nobody
 * is refused when a worker exits: new connections wait for its successor.
 */
export class SharedSockets {
    #sockets = new Map();
    /** Takes a socket that listens already. */
    add(key, socket) {
        this.#sockets.set(key, socket);
    }
    /** Sends a worker those of the sockets under `keys` that are open and that it does not have. */
    sendTo(slot, keys) {
        for (const key of keys) {
            const socket = this.#sockets.get(key);
            if (socket === undefined || slot.keys.has(key))
                continue;
            slot.process?.send({ kind: "socket", key }, socket);
            slot.keys.add(key);
        }
    }
    /** Closes every socket but those under `keys`. */
    retain(keys) {
        for (const [key, socket] of this.#sockets) {
            if (keys.has(key))
                continue;
            closeBareSocket(socket);
            this.#sockets.delete(key);
        }
    }
}
//# sourceMappingURL=shared-sockets.js.map