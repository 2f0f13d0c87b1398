import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import type { StatusOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { applyStatus } from "../../../../src/core/health/observe/apply-status.ts";
import { recordUnchanged } from "../../../../src/core/health/observe/unchanged-report.ts";
import { leadsLong, rows, steady } from "./unchanged-report-rows.ts";

function outcomeOf(cluster: ClusterState, node: string, sentAtMs: number): StatusOutcome {
  const known = nodeNamed(cluster, node);
  if (known === undefined || known.report === null) throw new Error(`${node} has not answered`);
  const result = { report: known.report, hasLock: known.hasLock };
  return { kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs, result };
}

suite("an answer that repeats the last report only changes ages, and is recorded as by all rules, if", () => {
  for (const { given, leads = leadsLong, before = () => {}, options = {}, nowMs = 2_000, ...row } of rows) {
    const { sentAtMs = nowMs, quick } = row;
    test(`${given}: ${quick === "" ? "no node" : quick}`, () => {
      const watched = steady(leads, options);
      before(watched);
      const { cluster } = watched;
      const context = { policy: watched.policy, nowMs };
      const found = ["pg1", "pg2", "pg3"].filter((name) => {
        const outcome = outcomeOf(cluster, name, sentAtMs);
        const after = recordUnchanged(cluster, outcome, context);
        if (after !== null) assert.deepEqual(after, applyStatus(cluster, outcome, context), name);
        return after !== null;
      });
      assert.equal(found.join(" "), quick);
    });
  }
});

test("an answer that claims the lock, or no longer does so, changes more than ages even with the same report", () => {
  const watched = steady(leadsLong, {});
  for (const node of ["pg1", "pg2"]) {
    const { result, ...outcome } = outcomeOf(watched.cluster, node, 2_000);
    const other = { ...outcome, result: { ...result, hasLock: node === "pg2" } };
    assert.equal(recordUnchanged(watched.cluster, other, { policy: watched.policy, nowMs: 2_000 }), null, node);
  }
});
