import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck } from "../../../../src/core/health/check.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const settings = { intervalMs: 1_000, viewMaxAgeMs: 11_500 };

/** The result of the lock rules for a node, at an instant. */
function explained(watched: ClusterFixture, name: string, nowMs: number): readonly string[] {
  const observation = watched.cluster.nodes.find(({ node }) => node.name === name);
  assert.ok(observation !== undefined);
  const { rules } = explain(viewAt(watched.cluster, watched.policy, nowMs), observation, plainCheck("primary"));
  return rules.flatMap(({ rule, value, limit }) =>
    rule === "lock" ? [limit ?? ""] : rule === "views of who leads" ? [value] : [],
  );
}

test("an explanation shows the node that each witness names, how long ago, and which views ended a claim", () => {
  const watched = new ClusterFixture({ policy: settings });
  watched.lead("pg1", 0);
  watched.follow("pg3", 0);
  watched.lead("pg2", 1_000);
  watched.nameLeader("pg1", "pg1", 1_100);
  watched.nameLeader("pg1", "pg2", 1_100);
  watched.failView("pg3", 1_100);
  assert.deepEqual(explained(watched, "pg2", 2_100), [
    "pg1 names pg1 (1.0 s ago), pg2 names pg1 (1.0 s ago), no view from pg3",
    "held by pg1: the only claim that is not lost; the claim of pg2 is lost: its own view contradicts it",
  ]);
});

test("an explanation says by what one of several claims stands", () => {
  const watched = new ClusterFixture({ policy: settings });
  watched.lead("pg1", 0);
  watched.follow("pg3", 0);
  watched.lead("pg1", 1_000);
  watched.lead("pg2", 1_000);
  assert.deepEqual(explained(watched, "pg1", 1_000), [
    "none",
    "held by pg1: the claims are tied, and this claimant is the last accepted leader",
  ]);
  watched.nameLeader("pg2", "pg3", 1_100);
  assert.deepEqual(explained(watched, "pg1", 1_100), [
    "pg3 names pg2 (0.0 s ago)",
    "held by pg2: named by most views (of pg3)",
  ]);
});
