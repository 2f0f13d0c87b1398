import type { Socket } from "node:net";
import { unmapped } from "../../config/values/cidr.ts";

/** The clients that PROXY preambles name, by connection. TLS puts another socket over the one with the preamble. */
const proxied = new WeakMap<Socket, string>();

/** The address of a connection's client: the one that a trusted PROXY preamble names, or the peer's. */
export function clientAddressOf(socket: Socket): string {
  return proxied.get(socket) ?? unmapped(socket.remoteAddress ?? "");
}

/** Notes the client that a preamble names. */
export function setClientAddress(socket: Socket, address: string): void {
  proxied.set(socket, unmapped(address));
}

/**
 * Identifies a connection by its four addresses, so that the sockets below and above TLS are known to be one
 * connection. No two open connections have the same four.
 */
export function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
