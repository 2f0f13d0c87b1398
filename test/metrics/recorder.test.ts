import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "../../src/cluster/outcome.ts";
import { Recorder } from "../../src/metrics/recorder.ts";
import { reportOf } from "../fake/watched.ts";

const minuteMs = 60_000;

function status(node: string, more = ""): Outcome {
  const result = { report: reportOf(node, { more }), hasLock: false };
  return { kind: "status", cluster: "demo", node, sentAtMs: 0, sentAtWallMs: 0, result };
}

function document(body: string): Outcome {
  return { kind: "document", cluster: "demo", answer: { name: "cluster", served: { status: 200, body, askedOf: "pg1", sentAtMs: 0 } } };
}

function kept(recorder: Recorder): number {
  return recorder.between("demo", -Infinity, Infinity).length;
}

test("what was recorded between two instants comes back oldest first, of one cluster", () => {
  const recorder = new Recorder();
  for (let at = 0; at < 10; at += 1) recorder.take(status(`pg${at}`), at, 1_000 + at);
  recorder.take({ ...status("other"), cluster: "other" }, 10, 1_005);
  assert.deepEqual(
    recorder.between("demo", 1_003, 1_005).map(({ outcome }) => "node" in outcome && outcome.node),
    ["pg3", "pg4", "pg5"],
  );
});

test("evidence older than a quarter of an hour is given up", () => {
  const recorder = new Recorder();
  for (let at = 0; at < 3_000; at += 1) recorder.take(status("pg1"), at * 1_000, at * 1_000);
  assert.equal(kept(recorder), 15 * 60 + 1);
});

test("however long the documents are, they take eight mebibytes at most", () => {
  for (const outcome of [document("x".repeat(1_000_000)), status("pg1", "x".repeat(1_000_000))]) {
    const recorder = new Recorder();
    for (let at = 0; at < 100; at += 1) recorder.take(outcome, at, at);
    assert.equal(kept(recorder), 4);
  }
});

test("failures and heartbeats count too", () => {
  const recorder = new Recorder();
  const failure: Outcome = {
    kind: "status",
    cluster: "demo",
    node: "pg1",
    sentAtMs: 0,
    sentAtWallMs: 0,
    result: { failure: { kind: "timeout", detail: "x" } },
  };
  for (let at = 0; at < 50_000; at += 1) recorder.take(failure, 0, at);
  assert.ok(kept(recorder) < 25_000 && kept(recorder) > 10_000, String(kept(recorder)));
  recorder.take({ kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: 0, isAlive: true }, 16 * minuteMs, 1);
  assert.equal(kept(recorder), 1);
});
