import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import type { ListenerConfig } from "../../config/model/config.ts";
import { unmapped } from "../../config/values/cidr.ts";
import { clientAddressOf } from "../access/client-addresses.ts";
import { allowlistOf } from "../access/ip-allowlist.ts";

/** What `/livez` and `/readyz` say of a listener. */
export interface ListenerEntry {
  readonly dialect: ListenerConfig["dialect"];
  readonly port: number;
  readonly tls: boolean;
  readonly management: boolean;
}

/** Which listener a client reached, and which others it can reach at the same address. */
export interface ListenerDirectory {
  readonly listener: ListenerConfig["dialect"];
  readonly listeners: readonly ListenerEntry[];
}

/** Returns what a listener says about itself and others to the sender of a request. */
export type DescribeListeners = (message: IncomingMessage) => ListenerDirectory;

/**
 * Lets one URL lead to the other listeners of this process. A client learns the port of a listener only if it could
 * have found it by trying ports: the listener is open at the address where the request arrived (so a loopback listener
 * is named only to loopback), and `allow` admits the client. A health listener names admin listeners alone; an admin
 * listener names all but those for a single node, those for all clusters first. Addresses are never named: the client
 * goes on using the host that it knows.
 * @param portOf the port that a listener with port 0 is bound to, or 0 if it is not known
 */
export function listenerDirectory(
  own: ListenerConfig,
  all: readonly ListenerConfig[],
  portOf: (listener: ListenerConfig) => number,
): DescribeListeners {
  const known = all
    .filter(({ dialect, node }) => node === null && (dialect === "admin" || own.dialect === "admin"))
    .toSorted((left, right) => Number(left.cluster !== null) - Number(right.cluster !== null))
    .map((listener) => ({
      listener,
      admits: listener.access.allow === null ? () => true : allowlistOf(listener.access.allow),
    }));
  return ({ socket }) => {
    const arrivedAt = unmapped(socket.localAddress ?? own.address);
    const sender = clientAddressOf(socket);
    const listeners = known
      .filter(({ listener, admits }) => isOpenAt(listener.address, arrivedAt) && admits(sender))
      .map(({ listener }) => ({
        dialect: listener.dialect,
        port: listener.port === 0 ? portOf(listener) : listener.port,
        tls: listener.access.tls !== null,
        management: listener.dialect === "node" && listener.access.management,
      }))
      .filter(({ port }) => port > 0);
    return { listener: own.dialect, listeners };
  };
}

/** Whether a listener that is bound to `address` accepts connections to the address `arrivedAt`. */
function isOpenAt(address: string, arrivedAt: string): boolean {
  if (address === "::" || address === arrivedAt) return true;
  if (address === "0.0.0.0") return isIPv4(arrivedAt);
  if (address === "localhost") return arrivedAt === "127.0.0.1" || arrivedAt === "::1";
  return isIPv6(address) && isIPv6(arrivedAt) && canonical(address) === canonical(arrivedAt);
}

/** The one spelling of an IPv6 address that URLs use (RFC 5952). */
function canonical(address: string): string {
  return URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname : address;
}
