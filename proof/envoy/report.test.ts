import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChangeKind } from "./change.ts";
import type { Measured } from "./measure.ts";
import { reportOf, type Result } from "./report.ts";

const measured: Measured = {
  firstWriteMs: 50,
  routedMs: 20,
  sessions: 20,
  cutMs: 90,
  left: 0,
  lateWrites: 2,
  wentBack: 0,
  refused: 7,
};

function change(kind: ChangeKind, more: Partial<Measured> = {}): Result {
  const balancers = [{ title: "one", ...measured, ...more }];
  return { of: "change", kind, clients: 20, reason: "down", yesMs: 10, stallMs: 3, balancers };
}

function fault(kind: "kill" | "reload", awayMs: number, refused: number): Result {
  const balancers = [{ title: "one", opened: 1_000, refused, cut: 0 }];
  return { of: "own fault", kind, instances: 1, awayMs, balancers };
}

test("a row has medians and maxima of its balancer, and sums of what must not happen", () => {
  const [changes = "", , faults = ""] = reportOf([
    change("switchover"),
    change("switchover", { firstWriteMs: 150, routedMs: 40 }),
    change("alive", { left: 1 }),
    fault("kill", 6_500, 0),
    fault("kill", 6_500, 2),
    fault("reload", 0, 0),
  ]).split("\n\n");
  assert.equal(
    changes.split("\n")[2],
    "| one | 2 | 30, at most 40 ms | 100, at most 150 ms | 0 |  |  | 1 | 90, at most 90 ms | 1 of 20 | 2 | 0 |",
  );
  assert.deepEqual(faults.split("\n"), [
    "| balancer | 1 rolecall, kill 6.5 s | 1 rolecall, reload |",
    "| --- | --: | --: |",
    "| one | 2: 0, 2 of 2,000 | 1: 0, 0 of 1,000 |",
  ]);
});
