import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { type FollowPhase, nextFollowPhase } from "../../../../src/features/follow/follower/follow-phase.ts";

const rows: readonly { readonly from: FollowPhase; readonly fed: boolean; readonly to: FollowPhase }[] = parse(
  readFileSync("test/spec/fleet/follow-phases.yaml", "utf8"),
);

for (const { from, fed, to } of rows)
  test(`${JSON.stringify(from)}, ${fed ? "fed" : "not fed"}`, () => {
    assert.deepEqual(nextFollowPhase(from, { isFed: fed, nowMs: 10_000, delayMs: 300 }), to);
  });
