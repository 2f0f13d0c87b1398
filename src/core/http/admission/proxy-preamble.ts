import { isIP, isIPv4, isIPv6 } from "node:net";

/** What the beginning of a connection says of its client (HAProxy, "The PROXY protocol", version 2020/03/05). */
export type Preamble =
  | {
      readonly kind: "preamble";
      /** The client's address; `null` for the balancer's own connections (LOCAL, UNKNOWN, and families without one). */
      readonly address: string | null;
      /** The length of the preamble, in bytes. */
      readonly length: number;
    }
  /** More bytes are needed to decide. */
  | { readonly kind: "more" }
  | { readonly kind: "invalid" }
  | { readonly kind: "none" };

const signature1 = Buffer.from("PROXY ", "latin1");
const signature2 = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
/** The longest line of version 1, with its CRLF. */
const lineMax = 107;
/** The longest rest of version 2 that is accepted: TLVs may hold a certificate's subject and a few more. */
const restMax = 4_096;
const headLength = 16;

/** Parses a PROXY preamble of version 1 or 2. TLVs are skipped. `bytes` is what came so far. */
export function readPreamble(bytes: Buffer): Preamble {
  if (beginsAs(bytes, signature1)) return bytes.length < signature1.length ? { kind: "more" } : readLine(bytes);
  if (beginsAs(bytes, signature2)) return bytes.length < headLength ? { kind: "more" } : readBinary(bytes);
  return { kind: "none" };
}

/** Whether the bytes begin with a signature, as far as they reach. */
function beginsAs(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return length > 0 && bytes.compare(signature, 0, length, 0, length) === 0;
}

/** Version 1: `PROXY TCP4 192.0.2.7 10.0.0.1 5432 8008`, or `PROXY UNKNOWN` and anything. */
function readLine(bytes: Buffer): Preamble {
  const end = bytes.subarray(0, lineMax).indexOf("\r\n", 0, "latin1");
  if (end < 0) return bytes.length < lineMax ? { kind: "more" } : { kind: "invalid" };
  const length = end + 2;
  const line = bytes.toString("latin1", signature1.length, end);
  if (line === "UNKNOWN" || line.startsWith("UNKNOWN ")) return { kind: "preamble", address: null, length };
  const [, family, source = "", destination = "", ...ports] =
    /^TCP([46]) ([\da-fA-F.:]+) ([\da-fA-F.:]+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? [];
  const isAddress = family === "4" ? isIPv4 : isIPv6;
  if (family === undefined || !isAddress(source) || !isAddress(destination)) return { kind: "invalid" };
  if (ports.some((port) => Number(port) > 65_535)) return { kind: "invalid" };
  return { kind: "preamble", address: source, length };
}

/** Version 2. Commands: 0 LOCAL, 1 PROXY. Families: 1 IPv4, 2 IPv6, 0 and 3 (Unix) without an address. */
function readBinary(bytes: Buffer): Preamble {
  const [version, family] = [bytes.readUInt8(12), bytes.readUInt8(13) >> 4];
  const rest = bytes.readUInt16BE(14);
  const command = version & 15;
  if (version >> 4 !== 2 || command > 1 || family > 3 || rest > restMax) return { kind: "invalid" };
  const length = headLength + rest;
  if (bytes.length < length) return { kind: "more" };
  if (command === 0 || family === 0 || family === 3) return { kind: "preamble", address: null, length };
  const size = family === 1 ? 4 : 16;
  if (rest < 2 * size + 4) return { kind: "invalid" };
  const raw = bytes.subarray(headLength, headLength + size);
  const address = family === 1 ? raw.join(".") : ipv6Of(raw);
  return isIP(address) === 0 ? { kind: "invalid" } : { kind: "preamble", address, length };
}

/** In the form of Node's peer addresses, which limits and lists compare: RFC 5952. */
function ipv6Of(raw: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => raw.readUInt16BE(2 * at).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
