import type { Server } from "node:net";
import { handleUnder, type TcpHandle } from "./node-internals.ts";

/** Passes a connection to its server. The server treats it as new: it makes a `net.Socket` of the handle. */
export type PassToServer = (handle: TcpHandle) => void;

interface ListeningHandle {
  onconnection: (status: number, handle: TcpHandle) => void;
}

/**
 * Offers each connection that a server accepts from now on to `take`.
 * @param server listens already
 * @param take returns whether it takes the connection. The server gets the others as usual. Must not throw
 * @returns a function that passes a connection to the server after all; `null` if the server is no TCP server: then
 *   nothing has changed
 */
export function interceptConnections(server: Server, take: (handle: TcpHandle) => boolean): PassToServer | null {
  const listening = handleUnder(server);
  if (!isListeningHandle(listening)) return null;
  const { onconnection } = listening;
  const pass = (status: number, handle: TcpHandle): void => Reflect.apply(onconnection, listening, [status, handle]);
  listening.onconnection = (status, handle) => {
    if (status !== 0 || !take(handle)) pass(status, handle);
  };
  return (handle) => pass(0, handle);
}

/** The address of a connection's peer; empty if the peer has gone. */
export function peerOf(handle: TcpHandle): string {
  const out: { address?: string } = {};
  handle.getpeername(out);
  return out.address ?? "";
}

/** Only the handle of a TCP server has `getsockname`; that of a server on a Unix socket has not. */
function isListeningHandle(value: unknown): value is ListeningHandle {
  return (
    typeof value === "object" &&
    value !== null &&
    "getsockname" in value &&
    "onconnection" in value &&
    typeof value.onconnection === "function"
  );
}
