import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbeOutcome } from "../../src/cluster/outcome.ts";
import { OutcomeRecorder } from "../../src/events/outcome-recorder.ts";
import { reportOf } from "../fake/node-documents.ts";

const minuteMs = 60_000;

function status(node: string, more = ""): ProbeOutcome {
  const result = { report: reportOf(node, { more }), hasLock: false };
  return { kind: "status", cluster: "demo", node, sentAtMs: 0, sentAtWallMs: 0, result };
}

function document(body: string): ProbeOutcome {
  return {
    kind: "document",
    cluster: "demo",
    answer: { name: "cluster", served: { status: 200, body, source: "pg1", sentAtMs: 0 } },
  };
}

function kept(recorder: OutcomeRecorder): number {
  return recorder.between("demo", -Infinity, Infinity).length;
}

test("what was recorded between two instants comes back oldest first, of one cluster", () => {
  const recorder = new OutcomeRecorder();
  for (let at = 0; at < 10; at += 1) recorder.take(status(`pg${at}`), at, 1_000 + at);
  recorder.take({ ...status("other"), cluster: "other" }, 10, 1_005);
  assert.deepEqual(
    recorder.between("demo", 1_003, 1_005).map(({ outcome }) => "node" in outcome && outcome.node),
    ["pg3", "pg4", "pg5"],
  );
});

test("evidence older than a quarter of an hour is given up", () => {
  const recorder = new OutcomeRecorder();
  for (let at = 0; at < 3_000; at += 1) recorder.take(status("pg1"), at * 1_000, at * 1_000);
  assert.equal(kept(recorder), 15 * 60 + 1);
});

test("however long the documents are, they take eight mebibytes at most", () => {
  for (const outcome of [document("x".repeat(1_000_000)), status("pg1", "x".repeat(1_000_000))]) {
    const recorder = new OutcomeRecorder();
    for (let at = 0; at < 100; at += 1) recorder.take(outcome, at, at);
    assert.equal(kept(recorder), 4);
  }
});

test("failures and heartbeats count too", () => {
  const recorder = new OutcomeRecorder();
  const failure: ProbeOutcome = {
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

/** pg1's drain, begun at `beganMs` for an hour, or with `null` its end. Both clocks are one here. */
function drain(beganMs: number | null): ProbeOutcome {
  const words = { reason: "disk swap", by: null, isAll: false, since: "", until: "" };
  return {
    kind: "drain",
    cluster: "demo",
    node: "pg1",
    drain: beganMs === null ? null : { ...words, untilMs: beganMs + 60 * minuteMs },
  };
}

/** The kinds of what comes back of the minutes from 40 to 50, once the words on a drain were said and an hour has passed. */
function kindsAfter(words: readonly (readonly [outcome: ProbeOutcome, atMs: number])[]): readonly string[] {
  const recorder = new OutcomeRecorder();
  for (const [outcome, atMs] of words) recorder.take(outcome, atMs, atMs);
  for (let atMs = 41 * minuteMs; atMs <= 50 * minuteMs; atMs += minuteMs) recorder.take(status("pg2"), atMs, atMs);
  return recorder.between("demo", 40 * minuteMs, 42 * minuteMs).map(({ outcome }) => outcome.kind);
}

test("a drain that was in force at the beginning comes first, however long ago it began", () => {
  assert.deepEqual(kindsAfter([[drain(minuteMs), minuteMs]]), ["drain", "status", "status"]);
});

test("a drain that had ended, by hand or by itself, does not come back", () => {
  const ended: readonly (readonly [ProbeOutcome, number])[] = [
    [drain(minuteMs), minuteMs],
    [drain(null), 30 * minuteMs],
  ];
  assert.deepEqual(kindsAfter(ended), ["status", "status"]);
  assert.deepEqual(kindsAfter([[drain(-30 * minuteMs), -30 * minuteMs]]), ["status", "status"]);
  assert.deepEqual(kindsAfter([...ended, [drain(35 * minuteMs), 35 * minuteMs]]), ["drain", "status", "status"]);
});
