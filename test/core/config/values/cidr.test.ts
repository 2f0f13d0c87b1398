import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseCidr, unmapped } from "../../../../src/core/config/values/cidr.ts";
import { allowlistOf } from "../../../../src/core/http/access/ip-allowlist.ts";

suite("a network contains an address or not", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.7", "10.0.0.7", true],
    ["10.0.0.7", "10.0.0.8", false],
    ["0.0.0.0/0", "192.0.2.1", true],
    ["0.0.0.0/0", "fd00::1", false],
    ["::/0", "192.0.2.1", false],
    ["fd00::/8", "fd12::1", true],
    ["fd00::/8", "fe80::1", false],
    ["::1", "::1", true],
    ["0.0.0.0/0", "", false],
  ];
  for (const [network, address, contains] of rows)
    test(`${network} ${contains ? "contains" : "does not contain"} ${address}`, () =>
      assert.equal(allowlistOf([network])(address), contains));
});

suite("rejects what is no network", () => {
  for (const text of [
    "",
    "10.0.0.0/33",
    "::/129",
    "10.0.0/8",
    "example.org",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "::ffff:10.0.0.0/104",
  ]) {
    test(JSON.stringify(text), () => assert.equal(parseCidr(text), undefined));
  }
});

test("converts an IPv4-mapped address and keeps any other", () => {
  assert.equal(unmapped("::FFFF:192.0.2.1"), "192.0.2.1");
  assert.equal(unmapped("fd00::1"), "fd00::1");
});
