import assert from "node:assert/strict";
import { test } from "node:test";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const nodes = ["pg1", "pg2", "pg3"];

/** A cluster whose three nodes answer every second, 100 ms after each other, and when it was examined. */
class Examined {
  readonly watched = new ClusterFixture({ nodes });
  /** In ms. */
  readonly atMs: number[] = [];
  readonly kinds: string[] = [];
  readonly #detector = new EventDetector({
    asked: () => {
      this.atMs.push(this.#nowMs);
      return [];
    },
  });
  #nowMs = 0;

  find(nowMs: number, isVerdictChanged: boolean): void {
    this.#nowMs = nowMs;
    const policy = { ...this.watched.policy, intervalMs: 1_000 };
    const context = { policy, nowMs, isVerdictChanged };
    for (const { kind } of this.#detector.find(this.watched.cluster, new Map(), context)) this.kinds.push(kind);
  }

  /** One second of answers with positions that move. @param silent the nodes that do not answer */
  second(second: number, silent: readonly string[] = []): void {
    for (const [at, node] of nodes.entries()) {
      const nowMs = second * 1_000 + at * 100;
      const location = 1_000_000 + nowMs;
      if (silent.includes(node)) this.watched.fail(node, "timeout", nowMs);
      else if (at === 0) this.watched.lead(node, nowMs, { xlog: { location } });
      else this.watched.follow(node, nowMs, { xlog: { received_location: location, replayed_location: location } });
      this.find(nowMs, false);
    }
  }
}

test("a quiet cluster is examined once a second, and at once if a verdict or the leadership changes", () => {
  const examined = new Examined();
  for (let second = 0; second < 3; second += 1) examined.second(second);
  examined.atMs.length = 0;
  for (let second = 3; second < 6; second += 1) examined.second(second);
  assert.equal(examined.atMs.length, 3, examined.atMs.join());
  examined.find(6_000, true);
  assert.equal(examined.atMs.at(-1), 6_000, "a verdict");
  examined.watched.lead("pg2", 6_001);
  examined.watched.follow("pg1", 6_002);
  examined.find(6_003, false);
  assert.equal(examined.atMs.at(-1), 6_003, "the leadership");
});

test("while something lasts that may end, a cluster is examined with each probe, at most every 100 ms", () => {
  const examined = new Examined();
  for (let second = 0; second < 3; second += 1) examined.second(second);
  for (let second = 3; second < 9; second += 1) examined.second(second, ["pg3"]);
  assert.deepEqual(examined.kinds, ["node_down"]);
  examined.atMs.length = 0;
  examined.second(9, ["pg3"]);
  examined.find(9_250, false);
  assert.deepEqual(examined.atMs, [9_000, 9_100, 9_200]);
});

test("before a cluster is settled, it is examined with each probe", () => {
  const examined = new Examined();
  examined.second(0, ["pg2", "pg3"]);
  assert.deepEqual(examined.atMs, [0, 100, 200]);
});
