import { BlockList, isIPv6 } from "node:net";
import { parseCidr, unmapped } from "../../config/values/cidr.ts";

/** Returns a function that tells whether an address is in one of the networks. Unmaps `::ffff:` addresses first. */
export function allowlistOf(cidrs: readonly string[]): (address: string) => boolean {
  // One list for each family: ::/0 in a BlockList also matches every IPv4 address.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const network = parseCidr(cidr);
    if (network !== undefined) lists[network.family].addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const bare = unmapped(address);
    const family = isIPv6(bare) ? "ipv6" : "ipv4";
    return bare !== "" && lists[family].check(bare, family);
  };
}
