import assert from "node:assert/strict";
import { test } from "node:test";
import { EnvoyNames, type NamedStream } from "../../../src/features/xds/envoy-names.ts";

const stream = (name: string, peer: string): NamedStream => ({ name, wire: { peer } });

for (const [what, streams, names] of [
  ["one stream has its node id", [["e", "10.0.0.7:1"]], ["e"]],
  [
    "several streams of one host have their node id",
    [
      ["e", "10.0.0.7:1"],
      ["e", "10.0.0.7:2"],
    ],
    ["e", "e"],
  ],
  [
    "streams of several hosts with one node id are told apart",
    [
      ["e", "10.0.0.7:1"],
      ["e", "[::1]:2"],
      ["f", "[::1]:3"],
      ["e", "10.0.0.7:4"],
    ],
    ["e (10.0.0.7)", "e ([::1])", "f", "e (10.0.0.7)"],
  ],
] as const)
  test(what, () => {
    const all = streams.map(([name, peer]) => stream(name, peer));
    const named = new EnvoyNames(all);
    assert.deepEqual(
      all.map((each) => named.of(each)),
      names,
    );
  });

test("the names of 4,000 streams with one node id take a look or two at each", () => {
  let looks = 0;
  const streams = Array.from({ length: 4_000 }, (_, at): NamedStream => ({
    name: "e",
    get wire() {
      looks += 1;
      return { peer: `10.0.${at >> 8}.${at & 255}:1` };
    },
  }));
  const names = new EnvoyNames(streams);
  assert.equal(new Set(streams.map((each) => names.of(each))).size, 4_000);
  assert.ok(looks <= 8_000, `${looks} looks`);
});
