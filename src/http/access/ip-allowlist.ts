import { BlockList, isIPv6 } from "node:net";
import { parseCidr, unmapped } from "../../config/values/cidr.ts";

/** Makes the question whether an address lies in one of the networks. `::ffff:` addresses are unmapped first. */
export function allowlistOf(cidrs: readonly string[]): (address: string) => boolean {
  // One list a family: a BlockList takes ::/0 for every IPv4 address too.
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
