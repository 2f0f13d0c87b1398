import assert from "node:assert/strict";
import { test } from "node:test";
import { balancedCheckText } from "../../../../src/core/config/values/pool-check.ts";

for (const [text, route, wanted] of [
  ["/primary", "primary", "/primary"],
  ["/standby-leader?tag_a=b", "standby-leader", "/standby-leader?tag_a=b"],
  ["/replica", "replica", "/replica?miss=404"],
  ["/replica?lag=1MB", "replica", "/replica?lag=1MB&miss=404"],
  ["/replica?miss=503&lag=1MB", "replica", "/replica?miss=503&lag=1MB"],
] as const)
  test(`HAProxy sends ${wanted} for a pool with ${text}`, () => {
    assert.equal(balancedCheckText(text, route), wanted);
  });
