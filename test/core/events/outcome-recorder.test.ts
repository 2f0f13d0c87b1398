import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbeOutcome } from "../../../src/core/cluster/outcome.ts";
import { OutcomeRecorder } from "../../../src/core/events/outcome-recorder.ts";
import { reportOf } from "../../fake/node-documents.ts";

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

test("returns the outcomes of one cluster between two times, oldest first", () => {
  const recorder = new OutcomeRecorder();
  for (let at = 0; at < 10; at += 1) recorder.add(status(`pg${at}`), at, 1_000 + at);
  recorder.add({ ...status("other"), cluster: "other" }, 10, 1_005);
  assert.deepEqual(
    recorder.between("demo", 1_003, 1_005).map(({ outcome }) => "node" in outcome && outcome.node),
    ["pg3", "pg4", "pg5"],
  );
});

test("drops evidence older than 15 minutes", () => {
  const recorder = new OutcomeRecorder();
  for (let at = 0; at < 3_000; at += 1) recorder.add(status("pg1"), at * 1_000, at * 1_000);
  assert.equal(kept(recorder), 15 * 60 + 1);
});

test("keeps at most 8 MiB of documents", () => {
  for (const outcome of [document("x".repeat(1_000_000)), status("pg1", "x".repeat(1_000_000))]) {
    const recorder = new OutcomeRecorder();
    for (let at = 0; at < 100; at += 1) recorder.add(outcome, at, at);
    assert.equal(kept(recorder), 4);
  }
});

test("bounds failures and liveness too", () => {
  const recorder = new OutcomeRecorder();
  const failure: ProbeOutcome = {
    kind: "status",
    cluster: "demo",
    node: "pg1",
    sentAtMs: 0,
    sentAtWallMs: 0,
    result: { failure: { kind: "timeout", detail: "x" } },
  };
  for (let at = 0; at < 50_000; at += 1) recorder.add(failure, 0, at);
  assert.ok(kept(recorder) < 25_000 && kept(recorder) > 10_000, String(kept(recorder)));
  recorder.add({ kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: 0, isAlive: true }, 16 * minuteMs, 1);
  assert.equal(kept(recorder), 1);
});

/** A drain of pg1 from `beganMs` for an hour, or with `null` its end. Our time and wall time are the same here. */
function drain(beganMs: number | null): ProbeOutcome {
  const text = { reason: "disk swap", by: null, extent: "replica" as const, since: "", until: "" };
  return {
    kind: "drain",
    cluster: "demo",
    node: "pg1",
    drain: beganMs === null ? null : { ...text, untilMs: beganMs + 60 * minuteMs },
  };
}

/** The kinds of the outcomes between minutes 40 and 42, after these drain outcomes and ten more minutes of evidence. */
function kindsAfter(drains: readonly (readonly [outcome: ProbeOutcome, atMs: number])[]): readonly string[] {
  const recorder = new OutcomeRecorder();
  for (const [outcome, atMs] of drains) recorder.add(outcome, atMs, atMs);
  for (let atMs = 41 * minuteMs; atMs <= 50 * minuteMs; atMs += minuteMs) recorder.add(status("pg2"), atMs, atMs);
  return recorder.between("demo", 40 * minuteMs, 42 * minuteMs).map(({ outcome }) => outcome.kind);
}

test("returns a drain that was in force at the beginning first, however long ago it began", () => {
  assert.deepEqual(kindsAfter([[drain(minuteMs), minuteMs]]), ["drain", "status", "status"]);
});

test("omits a drain that had ended or expired", () => {
  const ended: readonly (readonly [ProbeOutcome, number])[] = [
    [drain(minuteMs), minuteMs],
    [drain(null), 30 * minuteMs],
  ];
  assert.deepEqual(kindsAfter(ended), ["status", "status"]);
  assert.deepEqual(kindsAfter([[drain(-30 * minuteMs), -30 * minuteMs]]), ["status", "status"]);
  assert.deepEqual(kindsAfter([...ended, [drain(35 * minuteMs), 35 * minuteMs]]), ["drain", "status", "status"]);
});
