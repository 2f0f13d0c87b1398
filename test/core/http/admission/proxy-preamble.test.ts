import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { readPreamble } from "../../../../src/core/http/admission/proxy-preamble.ts";
import { binaryPreamble } from "../../../fake/proxy-preambles.ts";

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const v4 = Buffer.from([192, 0, 2, 7, 10, 0, 0, 1, 1, 2, 3, 4]);
const v6 = Buffer.concat([Buffer.from("20010db8000000000000000000000007", "hex"), Buffer.alloc(20)]);
const tlv = Buffer.from([0x04, 0, 3, 1, 2, 3]);

const rows: readonly (readonly [given: string, bytes: Buffer, address: string | null])[] = [
  ["version 1 over IPv4", Buffer.from("PROXY TCP4 192.0.2.7 10.0.0.1 56324 8008\r\n"), "192.0.2.7"],
  ["version 1 over IPv6", Buffer.from("PROXY TCP6 2001:db8::7 fd00::1 56324 8008\r\n"), "2001:db8::7"],
  ["version 1 of an unknown client", Buffer.from("PROXY UNKNOWN\r\n"), null],
  ["version 1 of an unknown client with more", Buffer.from("PROXY UNKNOWN ff::1 ff::2 1 2\r\n"), null],
  ["LOCAL", binaryPreamble(0, 0), null],
  ["LOCAL with addresses, which do not count", binaryPreamble(0, 1, v4), null],
  ["version 2 over IPv4", binaryPreamble(1, 1, v4), "192.0.2.7"],
  ["version 2 over IPv4 with TLVs", binaryPreamble(1, 1, Buffer.concat([v4, tlv, tlv])), "192.0.2.7"],
  ["version 2 over IPv6", binaryPreamble(1, 2, v6), "2001:db8::7"],
  ["version 2 over a Unix socket", binaryPreamble(1, 3, Buffer.alloc(216)), null],
  ["version 2 of no family", binaryPreamble(1, 0, tlv), null],
  ["the longest rest", binaryPreamble(1, 1, Buffer.concat([v4, Buffer.alloc(4_096 - 12)])), "192.0.2.7"],
];

const invalid: readonly (readonly [given: string, bytes: Buffer])[] = [
  ["an IPv4 address in TCP6", Buffer.from("PROXY TCP6 192.0.2.7 10.0.0.1 1 2\r\n")],
  ["a name", Buffer.from("PROXY TCP4 evil.example 10.0.0.1 1 2\r\n")],
  ["a port beyond all", Buffer.from("PROXY TCP4 192.0.2.7 10.0.0.1 1 65536\r\n")],
  ["no ports", Buffer.from("PROXY TCP4 192.0.2.7 10.0.0.1\r\n")],
  ["a line without an end", Buffer.from(`PROXY TCP4 ${"1".repeat(107)}`)],
  ["a command that nobody knows", binaryPreamble(2, 1, v4)],
  ["a family that nobody knows", binaryPreamble(1, 4, v4)],
  ["another version", Buffer.concat([signature, Buffer.from([0x31, 0x11, 0, 12]), v4])],
  ["too short a rest", binaryPreamble(1, 1, v4.subarray(0, 11))],
  ["a rest beyond the limit", binaryPreamble(1, 1, Buffer.alloc(4_097))],
];

suite("PROXY preambles", () => {
  for (const [given, bytes, address] of rows)
    test(`${given}: every part of it waits for more, and what follows is not its own`, () => {
      for (let length = 1; length < bytes.length; length += 1)
        assert.deepEqual(readPreamble(bytes.subarray(0, length)), { kind: "more" });
      for (const rest of ["", "GET / HTTP/1.0\r\n\r\n", "\r\n"])
        assert.deepEqual(readPreamble(Buffer.concat([bytes, Buffer.from(rest)])), {
          kind: "preamble",
          address,
          length: bytes.length,
        });
    });
  for (const [given, bytes] of invalid)
    test(`${given} is invalid`, () => assert.equal(readPreamble(bytes).kind, "invalid"));

  test("no bytes make the parser throw, and it waits for no more than 4,112 bytes", () => {
    const start = fc.constantFrom("", "PROXY ", "PROXY TCP4 ", signature.toString("latin1"));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 5_000, size: "max" }), (text, rest) => {
        const bytes = Buffer.concat([Buffer.from(text, "latin1"), rest]);
        const { kind } = readPreamble(bytes);
        if (kind === "more") assert.ok(bytes.length < 16 + 4_096);
      }),
    );
  });
});
