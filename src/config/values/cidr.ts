import { isIP } from "node:net";

/** A network: an address and how many of its first bits count. */
export interface Cidr {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** What a network looks like, for messages. */
export const cidrAllowed = "an address or a network such as 10.0.0.7, 10.0.0.0/8 or fd00::/8";

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address (RFC 4632, 3.1; RFC 4291, 2.3). `undefined` when it is none. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([0-9a-f:.]{2,45})(?:\/(\d{1,3}))?$/i.exec(text);
  const address = unmapped(match?.[1] ?? "");
  const version = isIP(address);
  if (match === null || version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = match[2] === undefined ? bits : Number(match[2]);
  // ::ffff:10.0.0.0/104 is written for 10.0.0.0/8; nobody needs it, and reading it wrong would open a door.
  if (prefix > bits || (address !== match[1] && match[2] !== undefined)) return undefined;
  return { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/** `::ffff:10.0.0.7`, as a socket of both families names an IPv4 peer, is 10.0.0.7 (RFC 4291, 2.5.5.2). */
export function unmapped(address: string): string {
  const match = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address);
  return match?.[1] ?? address;
}
