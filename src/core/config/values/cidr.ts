import { isIP } from "node:net";

/** A network: an address and the number of its first bits that are significant. */
export interface Cidr {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** What {@link parseCidr} accepts, for messages. */
export const cidrAllowed = "an address or a network such as 10.0.0.7, 10.0.0.0/8 or fd00::/8";

/**
 * Parses `10.0.0.0/8`, `fd00::/8` or a single address (RFC 4632, 3.1; RFC 4291, 2.3). Returns `undefined` for
 * anything else.
 */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([0-9a-f:.]{2,45})(?:\/(\d{1,3}))?$/i.exec(text);
  const address = unmapped(match?.[1] ?? "");
  const version = isIP(address);
  if (match === null || version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = match[2] === undefined ? bits : Number(match[2]);
  // ::ffff:10.0.0.0/104 would mean 10.0.0.0/8. It is rejected: nobody needs it, and a mistake here would admit clients.
  if (prefix > bits || (address !== match[1] && match[2] !== undefined)) return undefined;
  return { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Turns `::ffff:10.0.0.7`, the address of an IPv4 peer on a dual-stack socket, into 10.0.0.7 (RFC 4291, 2.5.5.2). */
export function unmapped(address: string): string {
  const match = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address);
  return match?.[1] ?? address;
}
