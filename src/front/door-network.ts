import { BlockList, isIPv6 } from "node:net";
import { parseCidr, unmapped } from "../config/cidr.ts";

/** Makes the question whether an address lies in one of the networks. `::ffff:` addresses are unmapped first. */
export function networksOf(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const network = parseCidr(cidr);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const bare = unmapped(address);
    return bare !== "" && list.check(bare, isIPv6(bare) ? "ipv6" : "ipv4");
  };
}
