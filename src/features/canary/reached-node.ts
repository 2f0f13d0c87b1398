import { isIP, SocketAddress } from "node:net";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { isLoopback } from "../../core/config/values/loopback.ts";
import type { ReachedServer } from "./core/canary.ts";

/** Finds the addresses of a host name, without waiting; none while they are not known. */
export type AddressesOf = (host: string) => readonly string[];

/**
 * The node whose database a server is, by the address that the server itself has stated; `null` if that is not certain.
 * A loopback address says only that the last program on the way runs beside the server: it names a node where all
 * nodes of the cluster are on this machine.
 */
export function reachedNode(
  { nodes }: Pick<ClusterState, "nodes">,
  { address, port }: Pick<ReachedServer, "address" | "port">,
  addressesOf: AddressesOf,
): string | null {
  if (address === null || port === null || isIP(address) === 0) return null;
  const wanted = shortest(address);
  const placed = nodes.flatMap(({ node: { name, database } }) =>
    database === null ? [] : [{ name, port: database.port, ips: ipsOf(database.host, addressesOf).map(shortest) }],
  );
  const areAllHere =
    placed.length === nodes.length && placed.every(({ ips }) => ips.length > 0 && ips.every(isLoopback));
  if (isLoopback(wanted) && !areAllHere) return null;
  const found = placed.filter((one) => one.port === port && one.ips.includes(wanted));
  return found.length === 1 ? (found[0]?.name ?? null) : null;
}

function ipsOf(host: string, addressesOf: AddressesOf): readonly string[] {
  return isIP(host) === 0 ? addressesOf(host) : [host];
}

/** An IPv6 address with the longest run of zeros left out, as PostgreSQL shows it. */
function shortest(ip: string): string {
  return isIP(ip) === 6 ? new SocketAddress({ address: ip, family: "ipv6" }).address : ip;
}

/** The system identifier that the nodes of a cluster report; `null` if they report none, or several. */
export function systemOf({ nodes }: Pick<ClusterState, "nodes">): string | null {
  const systems = new Set(nodes.flatMap(({ report }) => report?.system ?? []));
  return systems.size === 1 ? ([...systems][0] ?? null) : null;
}
