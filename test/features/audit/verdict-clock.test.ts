import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { VerdictClock } from "../../../src/features/audit/verdict-clock.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { storeFixture } from "../../fake/store-fixture.ts";

/** A clock over a cluster in which pg1 leads and pg2 follows, and how often the cluster was judged. */
function clockFixture(): {
  readonly passLive: (ms: number) => void;
  readonly kindOf: (node: string) => string | undefined;
  readonly cluster: ReturnType<typeof storeFixture>;
  readonly judged: () => number;
} {
  const cluster = storeFixture();
  let count = 0;
  const clock = new VerdictClock({
    cluster: () => cluster.state(),
    policy: (name) => {
      count += 1;
      return cluster.store.policyOf(name);
    },
    now: () => cluster.nowMs,
  });
  const followed = { cluster: "demo", check: plainCheck("primary") };
  clock.follow([followed]);
  cluster.store.onChange((_, { name }) => clock.clusterChanged(name));
  const { report } = cluster.state().nodes[0] ?? assert.fail("the fixture must have nodes");
  assert.ok(report !== null);
  const passLive = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 250) {
      const { nowMs } = cluster;
      const at = { sentAtMs: nowMs, sentAtWallMs: nowMs };
      const result = { report, hasLock: true };
      cluster.store.record({ kind: "status", cluster: "demo", node: "pg1", ...at, result }, nowMs);
      cluster.nowMs += 250;
    }
  };
  return { passLive, kindOf: (node) => clock.of(followed).get(node)?.kind, cluster, judged: () => count };
}

suite("the clock of verdicts", () => {
  test("does not judge a cluster again in which nothing changes before its verdicts end", () => {
    const { passLive, kindOf, judged } = clockFixture();
    passLive(5_000);
    const before = judged();
    passLive(20_000);
    assert.equal(kindOf("pg1"), "new");
    const count = judged() - before;
    assert.ok(count >= 1 && count <= 20, `80 equal reports, judged ${count} times`);
  });

  test("judges a cluster in which only positions move once a second, and at once what else changes", () => {
    const { kindOf, cluster, judged } = clockFixture();
    const move = (at: number): void => {
      cluster.nowMs += 125;
      cluster.recordReport("pg1", 1_000 + at, true);
    };
    for (let at = 0; at < 40; at += 1) move(at);
    const before = judged();
    for (let at = 40; at < 120; at += 1) move(at);
    const count = judged() - before;
    assert.ok(count >= 8 && count <= 20, `80 reports in 10 s, judged ${count} times`);
    cluster.nowMs += 125;
    const atChange = judged();
    cluster.recordReport("pg1", 1_120, false);
    assert.ok(judged() > atChange, "a lock that is gone is no move of a position");
    assert.equal(kindOf("pg1"), "none");
  });

  test("judges it at a change, and when time alone ends a verdict", () => {
    const { passLive, kindOf, cluster } = clockFixture();
    passLive(5_000);
    cluster.recordReport("pg1", 1_000, false);
    cluster.recordReport("pg2", 1_000, true, { timeline: 2 });
    cluster.nowMs += 250;
    assert.deepEqual([kindOf("pg1"), kindOf("pg2")], ["none", "new"]);
    cluster.nowMs += 60_000;
    assert.equal(kindOf("pg2"), "untold");
  });
});
