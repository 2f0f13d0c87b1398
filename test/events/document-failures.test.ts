import assert from "node:assert/strict";
import { test } from "node:test";
import type { DocumentOutcome } from "../../src/cluster/outcome.ts";
import { DocumentFailures } from "../../src/events/document-failures.ts";
import { clusterStateOf } from "../fake/cluster-state.ts";

const state = clusterStateOf([{ name: "pg1", role: "primary" }]);

function asked(
  endpoint: string,
  outcome: string,
): { cluster: string; node: string; endpoint: string; outcome: string; durationMs: number } {
  return { cluster: "demo", node: "pg1", endpoint, outcome, durationMs: 5 };
}

function document(scope: string | null): DocumentOutcome {
  const cluster = { scope, members: [], leader: null, leaderApi: null, leaderTimeline: null };
  return {
    kind: "document",
    cluster: "demo",
    answer: { name: "cluster", served: { status: 200, body: "", source: "pg1", sentAtMs: 0 }, cluster },
  };
}

test("a document that fails again and again is told of once, until it was had for a while", () => {
  const troubles = new DocumentFailures();
  const outcomes = ["answered", "timeout", "status", "answered", "timeout", "skipped", "answered"];
  const told = outcomes.map((outcome, at) => troubles.asked(asked("cluster", outcome), at * 1_000));
  const first = { kind: "failed", cluster: "demo", document: "cluster", node: "pg1", failure: "timeout" };
  assert.deepEqual(told, [null, first, null, null, null, null, null]);
  // However long it lasts, failures alone are one episode: after one they rest for up to a minute.
  assert.equal(troubles.asked(asked("cluster", "timeout"), 200_000), null);
  assert.equal(troubles.asked(asked("cluster", "answered"), 211_000), null);
  assert.deepEqual(troubles.asked(asked("cluster", "timeout"), 212_000), first);
});

test("each document has its own episodes, and what nobody needs has none", () => {
  const troubles = new DocumentFailures();
  const told = ["cluster", "config", "history", "failsafe", "leader"].map((endpoint) =>
    troubles.asked(asked(endpoint, "body"), 0),
  );
  assert.deepEqual(
    told.map((trouble) => (trouble?.kind === "failed" ? trouble.document : null)),
    ["cluster", "config", "history", null, null],
  );
});

test("a document of another scope is told of once, with both scopes", () => {
  const troubles = new DocumentFailures();
  const told = [document("demo"), document("other"), document("other"), document(null)].map((outcome, at) =>
    troubles.heard(outcome, state, at),
  );
  assert.deepEqual(told, [
    null,
    { kind: "foreign", cluster: "demo", node: "pg1", scope: "other", wanted: "demo" },
    null,
    null,
  ]);
  assert.equal(troubles.heard(document("demo"), state, 20_000), null);
  assert.notEqual(troubles.heard(document("other"), state, 21_000), null);
});
