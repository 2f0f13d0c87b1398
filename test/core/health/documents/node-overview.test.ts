import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck } from "../../../../src/core/health/check.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { nodeOverview, type NodeOverview } from "../../../../src/core/health/documents/node-overview.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

type Shown = Pick<NodeOverview, "role" | "state" | "was" | "error" | "reason" | "detail">;

function shown(fixture: ClusterFixture, name: string, nowMs: number): Shown {
  const observation = fixture.cluster.nodes.find(({ node }) => node.name === name);
  assert.ok(observation !== undefined);
  const { role, state, was, error, reason, detail } = nodeOverview(
    viewAt(fixture.cluster, fixture.policy, nowMs),
    observation,
  );
  return { role, state, was, error, reason, detail };
}

/** pg1 leads and pg2 follows; both answered at 0 ms and do not from 1 s on, while pg3 always answers. */
function killed(failures: number): ClusterFixture {
  const fixture = new ClusterFixture();
  fixture.lead("pg1", 0);
  fixture.follow("pg2", 0);
  fixture.follow("pg3", 0);
  for (let at = 1_000; at <= failures * 1_000; at += 1_000) {
    fixture.fail("pg1", "refused", at);
    fixture.fail("pg2", "timeout", at);
    fixture.follow("pg3", at);
  }
  return fixture;
}

const present = { role: "primary", state: "running", was: null, error: null, reason: null, detail: null };

test("a node that answers has the role and state of its report, and no past role", () => {
  assert.deepEqual(shown(killed(0), "pg1", 100), present);
});

test("one failed probe is named, but the role stays while the report is fresh", () => {
  assert.deepEqual(shown(killed(1), "pg1", 1_100), { ...present, error: "refused" });
});

test("a killed primary was the primary: its role and state are unknown, and the failure has a short name", () => {
  const fixture = killed(3);
  const past = { role: "unknown", state: "unknown", reason: "down" };
  assert.deepEqual(shown(fixture, "pg1", 3_100), {
    ...past,
    was: "primary",
    error: "refused",
    detail: "connection refused",
  });
  assert.deepEqual(shown(fixture, "pg2", 3_100), {
    ...past,
    was: "replica",
    error: "timeout",
    detail: "an injected timeout",
  });
  assert.deepEqual(shown(fixture, "pg3", 3_100), { ...present, role: "replica" });
});

test("a report that became too old is past without any failed probe", () => {
  assert.deepEqual(shown(killed(0), "pg2", 60_000), {
    role: "unknown",
    state: "unknown",
    was: "replica",
    error: null,
    reason: "blind",
    detail: null,
  });
});

test("a node that never answered has no role, now or before", () => {
  const fixture = new ClusterFixture();
  fixture.fail("pg1", "refused", 0);
  const { role, state, was, error } = shown(fixture, "pg1", 100);
  assert.deepEqual({ role, state, was, error }, { role: null, state: null, was: null, error: "refused" });
});

test("an explanation uses the past tense for a report that is past", () => {
  const fixture = killed(3);
  const valuesOf = (name: string, nowMs: number): string => {
    const observation = fixture.cluster.nodes.find(({ node }) => node.name === name);
    assert.ok(observation !== undefined);
    const route = name === "pg1" ? "primary" : "replica";
    const { rules } = explain(viewAt(fixture.cluster, fixture.policy, nowMs), observation, plainCheck(route));
    const wanted = ["lock", "role", "state"];
    return rules.flatMap(({ rule, value }) => (wanted.includes(rule) ? [value] : [])).join(" / ");
  };
  assert.match(valuesOf("pg1", 3_100), /^claimed the lock/);
  assert.equal(valuesOf("pg2", 3_100), "was replica / was running");
  assert.equal(valuesOf("pg3", 3_100), "replica / running");
});
