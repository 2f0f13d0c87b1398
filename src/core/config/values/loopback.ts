import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
// An IPv4-mapped address (::ffff:127.0.0.1) counts as the IPv4 address in it.
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Whether only this machine can reach a socket that listens on an address (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
 * @param address an IP address without brackets, or a host name: any but `localhost` may resolve to another machine's
 *   network
 */
export function isLoopback(address: string): boolean {
  if (/^localhost\.?$/i.test(address)) return true;
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 4 ? "ipv4" : "ipv6");
}
