import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { headlineOf, situationLines, situationOf } from "../../../src/core/health/documents/situation.ts";
import { nodeOverview } from "../../../src/core/health/documents/node-overview.ts";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { poolersFound, type KnownPooler } from "../../../src/features/pgbouncer/conditions.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const dead = { problem: "connection refused", sinceMs: 2_000 };
const pgb1: KnownPooler = { pooler: "pgb1", address: "10.0.0.5:6432", dead };
const pgb2: KnownPooler = { pooler: "pgb2", address: "/run/pgbouncer", dead: null };

/** What `/status` says of a cluster of two nodes at 10 s. @param lost nodes that do not answer any more */
function situation(poolers: readonly KnownPooler[], lost: readonly string[] = []): ReturnType<typeof situationOf> {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  for (let atMs = 0; atMs <= 10_000; atMs += 1_000) {
    watched.lead("pg1", atMs);
    if (!lost.includes("pg2")) watched.follow("pg2", atMs);
    else watched.fail("pg2", "refused", atMs);
  }
  const view = viewAt(watched.cluster, watched.policy, 10_000);
  const nodes = view.cluster.nodes.map((node) => nodeOverview(view, node, []));
  return situationOf(view, {
    nodes,
    asked: [],
    wallMs: 0,
    brought: { found: poolersFound("demo", poolers), seen: [] },
  });
}

describe("a pooler that does not answer", () => {
  test("the only one of a healthy cluster is the headline, and what explain says", () => {
    const told = situation([pgb1]);
    assert.equal(told.condition, "clients failing");
    assert.equal(situation([pgb1, pgb2]).condition, "degraded");
    assert.equal(
      headlineOf(told),
      "no pooler answers for 8.0 s: pooler pgb1 at 10.0.0.5:6432 does not answer: connection refused",
    );
    const lines = situationLines(told);
    assert.equal(
      lines[0],
      "wrong:   no pooler answers: pooler pgb1 at 10.0.0.5:6432 does not answer: connection refused",
    );
    assert.equal(lines[3], "next:    no client that connects through a pooler is served until one answers");
    assert.match(lines[4] ?? "", /^do: {6}Look at PgBouncer on 10\.0\.0\.5:6432 /);
  });

  test("one of several, too; all answer: nothing is wrong", () => {
    assert.equal(
      headlineOf(situation([pgb1, pgb2])),
      "1 of 2 poolers out for 8.0 s: pooler pgb1 at 10.0.0.5:6432 does not answer: connection refused",
    );
    assert.equal(headlineOf(situation([{ ...pgb1, dead: null }, pgb2])), "ok");
    assert.equal(headlineOf(situation([])), "ok");
  });

  test("a node that is out hides it from no headline: all poolers come first, one of several follows", () => {
    assert.match(headlineOf(situation([pgb1], ["pg2"])), /^no pooler answers for 8\.0 s: pooler pgb1 .*; pg2 is /);
    assert.match(
      headlineOf(situation([pgb1, pgb2], ["pg2"])),
      /^1 node out.*: pg2 is .*; pooler pgb1 at 10\.0\.0\.5:6432 does not answer: connection refused$/,
    );
  });

  test("its event is an error where no pooler is left, and a warning otherwise", () => {
    const [all] = poolersFound("demo", [pgb1]);
    assert.equal(all?.found.severity, "error");
    assert.equal(
      all?.found.message,
      "no pooler of demo answers: pooler pgb1 at 10.0.0.5:6432 does not answer: connection refused",
    );
    assert.deepEqual(all?.found.figures, { poolers: "pgb1", down: 1, of: 1, address: "10.0.0.5:6432" });
    const [some] = poolersFound("demo", [pgb1, pgb2]);
    assert.equal(some?.found.severity, "warning");
    assert.match(some?.found.message ?? "", /^1 pooler of demo answers: pooler pgb1 /);
    // The loss of the last one is told anew.
    assert.notEqual(all?.found.level, some?.found.level);
  });
});
