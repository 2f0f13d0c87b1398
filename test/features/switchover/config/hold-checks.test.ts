import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatPath } from "../../../../src/core/config/model/issue.ts";
import { checkHolds } from "../../../../src/features/switchover/config/hold-checks.ts";

const pooler = (port: number, keys: object, cluster = "orders"): object => ({
  pgbouncer: { address: `10.0.0.9:${port}`, user: "rolecall" },
  databases: [{ name: "orders", cluster }],
  ...keys,
});
const hold = { hold_on_loss: "45s" };

/** What is written, and what is wrong with it. */
const rows: readonly (readonly [
  title: string,
  poolers: readonly object[],
  problems: readonly string[],
  stateFile?: null,
])[] = [
  ["no hold needs nothing", [pooler(1, {})], [], null],
  ["a hold with a state file", [pooler(1, hold), pooler(2, hold)], []],
  ["a pooler without a hold beside one with it", [pooler(1, hold), pooler(2, {})], []],
  [
    "a hold without a state file",
    [pooler(1, hold)],
    [
      "poolers[0].hold_on_loss: left out where state_file is not set, because nothing may be paused without it, got 45s",
    ],
    null,
  ],
  [
    "poolers of a cluster with two limits",
    [pooler(1, hold), pooler(2, { hold_on_loss: "30s" })],
    ["poolers[1].hold_on_loss: 45s, as another pooler of the cluster has it, got 30s"],
  ],
  [
    "poolers of a cluster with two ends",
    [pooler(1, hold), pooler(2, { ...hold, hold_end: "fail" })],
    ["poolers[1].hold_end: wait, as another pooler of the cluster has it, got fail"],
  ],
  ["poolers of two clusters with two limits", [pooler(1, hold), pooler(2, { hold_on_loss: "30s" }, "billing")], []],
];

describe("hold_on_loss in a configuration", () => {
  for (const [title, poolers, problems, stateFile = "state.json"] of rows)
    test(title, () => {
      const found = checkHolds({ poolers, state_file: stateFile });
      assert.deepEqual(
        found.map(({ path, allowed, found: got }) => `${formatPath(path)}: ${allowed}, got ${got.replaceAll('"', "")}`),
        problems,
      );
    });
});
