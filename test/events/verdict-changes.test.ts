import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultGuards } from "../../src/health/guards.ts";
import { VerdictChanges } from "../../src/events/verdict-changes.ts";
import { LeaderDisputes } from "../../src/events/leader-disputes.ts";
import { VerdictLog } from "../../src/events/verdict-log.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";

/** What a step of a watched cluster is told as: node, and the verdicts before and after. */
function follow(watched: ClusterFixture): (step: () => void, nowMs: number) => readonly string[] {
  const changes = new VerdictChanges();
  return (step, nowMs) => {
    const before = watched.cluster;
    step();
    return changes
      .take(before, watched.cluster, { policy: watched.policy, nowMs })
      .map(
        ({ node, before: was, after: is }) =>
          `${node}: ${was === null ? "new" : `${was.role} ${was.primary}`} to ${is.role} ${is.primary}`,
      );
  };
}

test("a node that was heard is told of once, and again only when it changes", () => {
  const watched = new ClusterFixture();
  const told = follow(watched);
  assert.deepEqual(
    told(() => watched.lead("pg1", 0), 0),
    ["pg1: new to primary fit"],
  );
  assert.deepEqual(
    told(() => watched.lead("pg1", 1_000), 1_000),
    [],
  );
  assert.deepEqual(
    told(() => watched.fail("pg1", "timeout", 2_000), 2_000),
    ["pg1: primary fit to primary fit"],
  );
  assert.deepEqual(
    told(() => watched.fail("pg1", "timeout", 3_000), 3_000),
    [],
  );
  assert.deepEqual(
    told(() => watched.fail("pg1", "timeout", 4_000), 4_000),
    ["pg1: primary fit to primary down"],
  );
  assert.deepEqual(
    told(() => watched.follow("pg2", 4_000), 4_000),
    ["pg2: new to replica wrong_role"],
  );
});

test("a node that says again what it said is told of when another's word, or time, made it something else", () => {
  const watched = new ClusterFixture({ policy: { guards: { ...defaultGuards, demotedForMs: 2_000 } } });
  const told = follow(watched);
  const again = (node: string, nowMs: number): readonly string[] =>
    told(() => watched.repeatReport(node, nowMs), nowMs);
  told(() => watched.lead("pg1", 0), 0);
  told(() => watched.follow("pg2", 0), 0);
  assert.deepEqual(again("pg2", 100), []);
  const other = { database_system_identifier: "7999999999999999999" };
  told(() => watched.lead("pg1", 200, other), 200);
  assert.deepEqual(again("pg2", 300), ["pg2: replica wrong_role to replica foreign"]);
  assert.deepEqual(again("pg2", 400), []);
  told(() => watched.follow("pg1", 500, other), 500);
  assert.deepEqual(again("pg1", 2_100), []);
  assert.deepEqual(again("pg1", 2_200), ["pg1: replica demoted to replica wrong_role"]);
});

test("who leads is every node's affair: a new leader is told with the old one's loss", () => {
  const watched = new ClusterFixture();
  const told = follow(watched);
  told(() => watched.lead("pg1", 0), 0);
  told(() => watched.follow("pg2", 0), 0);
  told(() => watched.follow("pg3", 0), 0);
  told(() => watched.lead("pg2", 1_000), 1_000);
  assert.deepEqual(
    told(() => watched.nameLeader("pg2", "pg3", 2_000), 2_000),
    ["pg1: primary fit to primary superseded", "pg2: primary superseded to primary fit"],
  );
});

test("a node that is gone is forgotten, and is new when it comes back", () => {
  const watched = new ClusterFixture();
  const told = follow(watched);
  told(() => watched.lead("pg1", 0), 0);
  told(() => watched.follow("pg3", 0), 0);
  const full = watched.cluster;
  const { nodes } = full;
  told(() => (watched.cluster = { ...full, nodes: nodes.slice(0, 1), index: new Map([["pg1", 0]]) }), 1);
  assert.deepEqual(told(() => (watched.cluster = full), 2).length, 1);
});

test("an episode in which it is open who leads is told of once, and the next one again", () => {
  const watched = new ClusterFixture();
  const disputes = new LeaderDisputes();
  const take = (nowMs: number): string | null => {
    const dispute = disputes.take(watched.cluster, { policy: watched.policy, nowMs });
    return dispute === null ? null : `${dispute.claims.join(" and ")}, ${dispute.holder}`;
  };
  watched.lead("pg1", 0);
  assert.equal(take(0), null);
  watched.lead("pg2", 1_000);
  assert.equal(take(1_000), "pg1 and pg2, pg1");
  assert.equal(take(2_000), null);
  watched.follow("pg2", 3_000);
  assert.equal(take(3_000), null);
  watched.lead("pg1", 20_000);
  watched.lead("pg2", 20_000);
  assert.match(take(20_000) ?? "", /pg1 and pg2/);
});

test("the last hundred changes of a node can be read back, of five thousand nodes at most", () => {
  const log = new VerdictLog();
  const after = { role: "replica", isReachable: true, primary: "wrong_role", replica: "fit" } as const;
  const change = (node: string): Parameters<VerdictLog["add"]>[0] => ({
    cluster: "demo",
    node,
    before: null,
    after,
    failure: null,
  });
  for (let at = 0; at < 150; at += 1) log.add(change("pg1"), at);
  assert.equal(log.of("demo", "pg1").length, 100);
  assert.equal(log.of("demo", "pg1")[0]?.atWallMs, 50);
  for (let at = 0; at < 5_000; at += 1) log.add(change(`n${at}`), at);
  assert.deepEqual(
    [log.of("demo", "pg1").length, log.of("demo", "n0").length, log.of("other", "n0").length],
    [0, 1, 0],
  );
});
