import type { Socket } from "node:net";

const callbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once when a connection closes, or in the next turn of the event loop if it is closed already. The socket
 * has one listener, however many requests of its connection wait.
 * @returns a function that cancels the callback
 */
export function onClosed(socket: Socket, callback: () => void): () => void {
  if (socket.destroyed) {
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  }
  const waiting = callbacks.get(socket) ?? listenTo(socket);
  waiting.add(callback);
  return () => waiting.delete(callback);
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
