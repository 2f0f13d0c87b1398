import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusOutcome } from "../../../../src/core/cluster/outcome.ts";
import { OwnerViews } from "../../../../src/features/follow/follower/owner-views.ts";
import { statusOutcome } from "../../../core/health/arbitraries.ts";

const [one, two] = ["http://one", "http://two"] as const;
const times = { maxAgeMs: 5_500, settleMs: 4_500 };

function fails(node: string, sentAtMs: number): StatusOutcome {
  const failure = { kind: "timeout", detail: "" } as const;
  return { kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs, result: { failure } };
}

/** Both owners probe once a second. @param second what the second one sees at an instant */
function run(seconds: number, second: (atMs: number) => StatusOutcome): OwnerViews {
  const views = new OwnerViews();
  for (let atMs = 0; atMs < seconds * 1_000; atMs += 1_000) {
    views.state(one, statusOutcome("pg1", atMs));
    views.state(two, second(atMs + 500));
    views.decide({ ...times, nowMs: atMs + 600 });
  }
  return views;
}

test("owners that see the same do not disagree", () => {
  const views = run(20, (atMs) => statusOutcome("pg1", atMs));
  assert.deepEqual(views.decide({ ...times, nowMs: 19_600 }), []);
});

test("a node that one owner does not reach is named with what each says, once that has lasted", () => {
  const views = run(20, (atMs) => (atMs < 12_000 ? statusOutcome("pg1", atMs) : fails("pg1", atMs)));
  const [found] = views.decide({ ...times, nowMs: 19_600 });
  assert.deepEqual(
    { ...found, says: [...(found?.says ?? [])] },
    {
      node: "pg1",
      sinceMs: 12_600,
      says: [
        [one, "answers as replica"],
        [two, "does not answer"],
      ],
    },
  );
  // An owner that is silent says nothing.
  assert.deepEqual(views.decide({ ...times, nowMs: 26_000 }), []);
});

test("a change that one owner sees a moment later is no disagreement", () => {
  const views = run(20, (atMs) => (atMs > 18_000 ? fails("pg1", atMs) : statusOutcome("pg1", atMs)));
  assert.deepEqual(views.decide({ ...times, nowMs: 19_600 }), []);
});

test("upstreams and nodes that are gone are forgotten", () => {
  const views = run(20, (atMs) => fails("pg1", atMs));
  views.keepOnly(new Set([one]), new Map([["pg1", 0]]));
  assert.deepEqual(views.decide({ ...times, nowMs: 19_600 }), []);
  const others = run(20, (atMs) => fails("pg1", atMs));
  others.keepOnly(new Set([one, two]), new Map());
  assert.deepEqual(others.decide({ ...times, nowMs: 19_600 }), []);
});
