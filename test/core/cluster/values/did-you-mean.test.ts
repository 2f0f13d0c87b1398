import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean } from "../../../../src/core/cluster/values/did-you-mean.ts";

const rows: readonly (readonly [text: string, candidates: readonly string[], meant: string | null])[] = [
  ["statsu", ["serve", "status"], "status"],
  ["bgi", ["prod", "big"], "big"],
  ["gbi", ["prod", "big"], null],
  ["lagg", ["lag", "lag_time"], "lag"],
  ["REPLICA", ["replica"], "replica"],
  ["ab", ["ba"], "ba"],
  ["", ["a"], "a"],
  ["shop", ["demo", "orders"], null],
];

for (const [text, candidates, meant] of rows) {
  test(`${JSON.stringify(text)} is taken for ${meant ?? "none"} of ${candidates.join(", ")}`, () => {
    assert.equal(didYouMean(text, candidates), meant);
  });
}
