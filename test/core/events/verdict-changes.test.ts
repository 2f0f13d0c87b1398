import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultGuards } from "../../../src/core/health/guards.ts";
import { VerdictChanges } from "../../../src/core/events/verdict-changes.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

/** Returns a function that changes a cluster and gives the found changes: node, and the verdicts before and after. */
function changesOf(watched: ClusterFixture): (step: () => void, nowMs: number) => readonly string[] {
  const verdictChanges = new VerdictChanges();
  return (step, nowMs) => {
    const before = watched.cluster;
    step();
    return verdictChanges
      .find(before, watched.cluster, { policy: watched.policy, nowMs })
      .map(
        ({ node, before: was, after: is }) =>
          `${node}: ${was === null ? "new" : `${was.role} ${was.primary}`} to ${is.role} ${is.primary}`,
      );
  };
}

test("reports a probed node once, and again only when it changes", () => {
  const watched = new ClusterFixture();
  const changes = changesOf(watched);
  assert.deepEqual(
    changes(() => watched.lead("pg1", 0), 0),
    ["pg1: new to primary fit"],
  );
  assert.deepEqual(
    changes(() => watched.lead("pg1", 1_000), 1_000),
    [],
  );
  assert.deepEqual(
    changes(() => watched.fail("pg1", "timeout", 2_000), 2_000),
    ["pg1: primary fit to primary fit"],
  );
  assert.deepEqual(
    changes(() => watched.fail("pg1", "timeout", 3_000), 3_000),
    [],
  );
  assert.deepEqual(
    changes(() => watched.fail("pg1", "timeout", 4_000), 4_000),
    ["pg1: primary fit to primary down"],
  );
  assert.deepEqual(
    changes(() => watched.follow("pg2", 4_000), 4_000),
    ["pg2: new to replica wrong_role"],
  );
});

test("reports a node with an unchanged report if another node, or time, changes its verdict", () => {
  const watched = new ClusterFixture({ policy: { guards: { ...defaultGuards, demotedForMs: 2_000 } } });
  const changes = changesOf(watched);
  const again = (node: string, nowMs: number): readonly string[] => changes(() => watched.again(node, nowMs), nowMs);
  changes(() => watched.lead("pg1", 0), 0);
  changes(() => watched.follow("pg2", 0), 0);
  assert.deepEqual(again("pg2", 100), []);
  const other = { database_system_identifier: "7999999999999999999" };
  changes(() => watched.lead("pg1", 200, other), 200);
  assert.deepEqual(again("pg2", 300), ["pg2: replica wrong_role to replica foreign"]);
  assert.deepEqual(again("pg2", 400), []);
  changes(() => watched.follow("pg1", 500, other), 500);
  assert.deepEqual(again("pg1", 2_100), []);
  assert.deepEqual(again("pg1", 2_200), ["pg1: replica demoted to replica wrong_role"]);
});

test("reports a new leader together with the old leader's loss", () => {
  const watched = new ClusterFixture();
  const changes = changesOf(watched);
  changes(() => watched.lead("pg1", 0), 0);
  changes(() => watched.follow("pg2", 0), 0);
  changes(() => watched.follow("pg3", 0), 0);
  changes(() => watched.lead("pg2", 1_000), 1_000);
  assert.deepEqual(
    changes(() => watched.nameLeader("pg2", "pg3", 2_000), 2_000),
    ["pg1: primary fit to primary superseded", "pg2: primary superseded to primary fit"],
  );
});

test("forgets a removed node, which is new when it comes back", () => {
  const watched = new ClusterFixture();
  const changes = changesOf(watched);
  changes(() => watched.lead("pg1", 0), 0);
  changes(() => watched.follow("pg3", 0), 0);
  const full = watched.cluster;
  const { nodes } = full;
  changes(() => (watched.cluster = { ...full, nodes: nodes.slice(0, 1), index: new Map([["pg1", 0]]) }), 1);
  assert.deepEqual(changes(() => (watched.cluster = full), 2).length, 1);
});
