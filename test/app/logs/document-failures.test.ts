import assert from "node:assert/strict";
import { test } from "node:test";
import type { DocumentOutcome } from "../../../src/core/cluster/outcome.ts";
import { DocumentFailures } from "../../../src/app/logs/document-failures.ts";
import { clusterStateOf } from "../../fake/cluster-state.ts";

const state = clusterStateOf([{ name: "pg1", role: "primary" }]);

function probe(
  endpoint: string,
  outcome: string,
): { cluster: string; node: string; endpoint: string; outcome: string; durationMs: number } {
  return { cluster: "demo", node: "pg1", endpoint, outcome, durationMs: 5 };
}

function document(scope: string | null): DocumentOutcome {
  const cluster = {
    scope,
    members: [],
    leftOut: [],
    isPartial: false,
    isLeaderUnreadable: false,
    leader: null,
    leaderApi: null,
    leaderTimeline: null,
  };
  return {
    kind: "document",
    cluster: "demo",
    answer: { name: "cluster", served: { status: 200, body: "", source: "pg1", sentAtMs: 0 }, cluster },
  };
}

test("reports a document that keeps failing once, until it has been fetched for a while", () => {
  const failures = new DocumentFailures();
  const outcomes = ["answered", "timeout", "status", "answered", "timeout", "skipped", "answered"];
  const found = outcomes.map((outcome, at) => failures.checkProbe(probe("cluster", outcome), at * 1_000));
  const first = { kind: "failed", cluster: "demo", document: "cluster", node: "pg1", failure: "timeout" };
  assert.deepEqual(found, [null, first, null, null, null, null, null]);
  // Consecutive failures are one episode of any length: after a failure the next request may wait for a minute.
  assert.equal(failures.checkProbe(probe("cluster", "timeout"), 200_000), null);
  assert.equal(failures.checkProbe(probe("cluster", "answered"), 211_000), null);
  assert.deepEqual(failures.checkProbe(probe("cluster", "timeout"), 212_000), first);
});

test("keeps separate episodes for each document, and none for documents that judgement does not need", () => {
  const failures = new DocumentFailures();
  const found = ["cluster", "config", "history", "failsafe", "leader"].map((endpoint) =>
    failures.checkProbe(probe(endpoint, "body"), 0),
  );
  assert.deepEqual(
    found.map((failure) => (failure?.kind === "failed" ? failure.document : null)),
    ["cluster", "config", "history", null, null],
  );
});

test("reports a document of another scope once, with both scopes", () => {
  const failures = new DocumentFailures();
  const found = [document("demo"), document("other"), document("other"), document(null)].map((outcome, at) =>
    failures.checkScope(outcome, state, at),
  );
  assert.deepEqual(found, [
    null,
    { kind: "foreign", cluster: "demo", node: "pg1", scope: "other", wanted: "demo" },
    null,
    null,
  ]);
  assert.equal(failures.checkScope(document("demo"), state, 20_000), null);
  assert.notEqual(failures.checkScope(document("other"), state, 21_000), null);
});
