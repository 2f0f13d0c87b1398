import type { Socket } from "node:net";

const callbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once when a connection is closed, at the latest in the next turn where it is closed already. However many
 * requests of one connection wait, the socket has one listener.
 * @returns takes the callback back
 */
export function onClosed(socket: Socket, callback: () => void): () => void {
  if (socket.destroyed) {
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  }
  const known = callbacks.get(socket) ?? listenTo(socket);
  known.add(callback);
  return () => known.delete(callback);
}

function listenTo(socket: Socket): Set<() => void> {
  const added = new Set<() => void>();
  callbacks.set(socket, added);
  socket.once("close", () => {
    for (const callback of added) callback();
    added.clear();
  });
  return added;
}
