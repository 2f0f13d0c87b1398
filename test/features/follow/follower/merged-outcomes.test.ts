import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import "../../../fake/property-seed.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { MergedOutcomes } from "../../../../src/features/follow/follower/merged-outcomes.ts";
import { failedOutcome, policyOf, statusOutcome, unprobedCluster } from "../../../core/health/arbitraries.ts";

/** What one of two owners hears of pg1, and how long it takes to the follower, in ms. */
const probe = fc.record({
  answers: fc.boolean(),
  gapMs: fc.integer({ min: 1, max: 900 }),
  delayMs: fc.oneof({ weight: 4, arbitrary: fc.constant(5) }, fc.integer({ min: 0, max: 4_000 })),
});
const policy = policyOf();

function outcomeOf(answers: boolean, sentAtMs: number): ProbeOutcome {
  return answers ? statusOutcome("pg1", sentAtMs, { hasLock: true }) : failedOutcome("pg1", sentAtMs);
}

/** What counts of pg1 after outcomes that were recorded in this order. */
function counted(outcomes: readonly ProbeOutcome[]): {
  readonly answer: object;
  readonly failures: number;
  readonly isDown: boolean;
} {
  const cluster = outcomes.reduce(
    (state, outcome) => observe(state, outcome, { policy, nowMs: 100_000 }),
    unprobedCluster(),
  );
  const [pg1] = cluster.nodes;
  assert.ok(pg1 !== undefined);
  const { sentAtMs, hasLock, failuresInRow, isDown, report } = pg1;
  return { answer: { sentAtMs, hasLock, role: report?.role }, failures: failuresInRow, isDown };
}

test("the outcomes of two owners add up to those of a single prober", () => {
  fc.assert(
    fc.property(fc.array(probe, { maxLength: 20 }), fc.array(probe, { maxLength: 20 }), (one, other) => {
      const arriving = [one, other].flatMap((probes) => {
        let sentAtMs = 1_000;
        let arrivesAtMs = 0;
        return probes.map(({ answers, gapMs, delayMs }) => {
          sentAtMs += gapMs;
          // The stream of one owner keeps its order.
          arrivesAtMs = Math.max(arrivesAtMs, sentAtMs + delayMs);
          return { sentAtMs, arrivesAtMs, outcome: outcomeOf(answers, sentAtMs) };
        });
      });
      const sent = arriving.map(({ sentAtMs }) => sentAtMs);
      fc.pre(new Set(sent).size === sent.length);
      const merged = new MergedOutcomes();
      const recorded = arriving
        .toSorted((first, second) => first.arrivesAtMs - second.arrivesAtMs)
        .flatMap(({ outcome }) => (outcome.kind === "drain" ? [] : merged.take(outcome)));
      const inOrder = arriving.toSorted((first, second) => first.sentAtMs - second.sentAtMs);
      const [own, single] = [counted(recorded), counted(inOrder.map(({ outcome }) => outcome))];
      assert.deepEqual(own.answer, single.answer);
      // A failure that another one has overtaken counts no more: that can only keep a node up.
      assert.ok(own.failures <= single.failures && Number(own.isDown) <= Number(single.isDown));
      const byArrival = inOrder.toSorted((first, second) => first.arrivesAtMs - second.arrivesAtMs);
      if (byArrival.every((each, at) => each === inOrder[at])) assert.deepEqual(own, single);
    }),
    { numRuns: 2_000 },
  );
});

test("an older outcome of any other kind is dropped, one of another source is not", () => {
  const merged = new MergedOutcomes();
  const live = (node: string, sentAtMs: number): Parameters<MergedOutcomes["take"]>[0] => ({
    kind: "liveness",
    cluster: "demo",
    node,
    sentAtMs,
    isAlive: true,
  });
  assert.equal(merged.take(live("pg1", 2_000)).length, 1);
  assert.equal(merged.take(live("pg1", 1_999)).length, 0);
  assert.equal(merged.take(live("pg2", 1_999)).length, 1);
  assert.equal(merged.take(live("pg1", 2_000)).length, 1);
});

test("readings of the DCS are ordered by revision: when one was sent may be known only roughly", () => {
  const merged = new MergedOutcomes();
  const read = (revision: number, sentAtMs: number, source = "etcd"): readonly ProbeOutcome[] => {
    const result = { read: { leader: "pg1", source, revision, hasScope: true } };
    return merged.take({ kind: "dcs", cluster: "demo", sentAtMs, result });
  };
  assert.equal(read(103, 5_000).length, 1);
  assert.equal(read(104, 4_000).length, 1, "what came later on a stream that stalled");
  assert.equal(read(103, 3_900).length, 0, "what another one has read before");
  assert.equal(read(9, 6_000).length, 1, "a DCS that was restored from a backup");
  assert.equal(read(200, 5_500, "another").length, 0);
});

test("of ever other servers and sources no more is remembered than the known servers have", () => {
  const merged = new MergedOutcomes();
  const known = new Set(["pg1", "pg2"]);
  for (let count = 0; count < 1_000; count += 1) {
    const about = { cluster: "demo", sentAtMs: count };
    merged.take({ ...about, kind: "liveness", node: `x${count}`, isAlive: true });
    merged.take({ ...about, kind: "companion", node: "pg1", companion: `c${count}`, failure: null });
    merged.take({ ...statusOutcome("pg1", count), node: `y${count}` });
  }
  merged.take({ kind: "liveness", cluster: "demo", node: "pg2", sentAtMs: 5, isAlive: true });
  merged.keepOnly(known);
  assert.ok(merged.size <= 32, `${merged.size} are kept`);
  merged.take({ kind: "liveness", cluster: "demo", node: "pg2", sentAtMs: 5, isAlive: true });
  merged.keepOnly(known);
  assert.deepEqual(merged.take({ kind: "liveness", cluster: "demo", node: "pg2", sentAtMs: 4, isAlive: true }), []);
});
