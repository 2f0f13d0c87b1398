import assert from "node:assert/strict";
import { test } from "node:test";
import { VerdictHistory } from "../../../src/core/events/verdict-history.ts";

test("keeps the last 100 changes of each of at most 5000 nodes", () => {
  const history = new VerdictHistory();
  const after = { role: "replica", isReachable: true, primary: "wrong_role", replica: "fit" } as const;
  const change = (node: string): Parameters<VerdictHistory["add"]>[0] => ({
    cluster: "demo",
    node,
    before: null,
    after,
    failure: null,
    reason: null,
    detail: null,
    lagBytes: null,
  });
  for (let at = 0; at < 150; at += 1) history.add(change("pg1"), at);
  assert.equal(history.of("demo", "pg1").length, 100);
  assert.equal(history.of("demo", "pg1")[0]?.atWallMs, 50);
  for (let at = 0; at < 5_000; at += 1) history.add(change(`n${at}`), at);
  assert.deepEqual(
    [history.of("demo", "pg1").length, history.of("demo", "n0").length, history.of("other", "n0").length],
    [0, 1, 0],
  );
});
