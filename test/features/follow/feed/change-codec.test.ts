import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseReport } from "../../../../src/core/cluster/documents/report.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { ChangeDecoder, ChangeEncoder } from "../../../../src/features/follow/feed/change-codec.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

const time = { sentAtMs: 10_000, wallOffsetMs: 5 } as const;

function statusOf(written: string, sentAtMs = 9_000): ProbeOutcome {
  const report = parseReport(JSON.parse(written), written);
  assert.ok(report !== undefined);
  return {
    kind: "status",
    cluster: "demo",
    node: "pg1",
    sentAtMs,
    sentAtWallMs: sentAtMs + 5,
    result: { report, hasLock: true },
  };
}

/** What a follower reads of outcomes that were sent at 10 s of either clock. */
function received(outcomes: readonly ProbeOutcome[]): readonly unknown[] {
  const [encoder, decoder] = [new ChangeEncoder(), new ChangeDecoder()];
  return outcomes.map((outcome) => decoder.decode(JSON.parse(JSON.stringify(encoder.encode(outcome, 10_000))), time));
}

describe("a status document", () => {
  test("comes as it was parsed, whether whole, as a difference, or as the same", () => {
    const [first, second] = [100, 2_000_000].map((location) =>
      statusOf(JSON.stringify(statusDocument("pg1", { role: "primary", xlog: { location } }))),
    );
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(received([first, second, second, first]), [first, second, second, first]);
  });

  test("keeps numbers in tags as the node wrote them", () => {
    const document = JSON.stringify(statusDocument("pg1")).slice(0, -1);
    const outcome = statusOf(`${document},"tags":{"a":1.0,"b":"x","c":0.50,"d":true}}`);
    assert.deepEqual(received([outcome]), [outcome]);
  });

  test("that refers to one that was not seen is refused", () => {
    const decoder = new ChangeDecoder();
    const head = { cluster: "demo", kind: "status", node: "pg1", ageMs: 1, lock: true };
    for (const change of [{ ...head, same: true }, { ...head, patch: [0, 0, "{}"] }, head])
      assert.equal(decoder.decode(change, time), null);
  });
});

test("an age is never stated shorter than it is", () => {
  const outcome = statusOf(JSON.stringify(statusDocument("pg1")), 9_999.999);
  assert.equal(new ChangeEncoder().encode(outcome, 10_000)["ageMs"], 0.01);
});

test("kinds that are not known are passed over, damaged changes are not", () => {
  const decoder = new ChangeDecoder();
  assert.equal(decoder.decode({ cluster: "demo", kind: "omen", ageMs: 1 }, time), "ignored");
  const liveness = { cluster: "demo", kind: "liveness", node: "pg1", isAlive: true };
  for (const change of [
    null,
    [],
    { ...liveness, cluster: 1 },
    { ...liveness, ageMs: -1 },
    { ...liveness, ageMs: "x" },
    { ...liveness, isAlive: "yes", ageMs: 1 },
  ])
    assert.equal(decoder.decode(change, time), null);
});

test("failures keep their words, drains their end", () => {
  const failure = { kind: "timeout", detail: "no answer within 2500 ms" } as const;
  const drain = { reason: "disk", by: null, extent: "all", untilMs: 70_000, since: "a", until: "b" } as const;
  const outcomes: readonly ProbeOutcome[] = [
    { kind: "status", cluster: "demo", node: "pg1", sentAtMs: 9_000, sentAtWallMs: 9_005, result: { failure } },
    { kind: "view_failure", cluster: "demo", node: "pg1", sentAtMs: 9_000, failure },
    { kind: "companion", cluster: "demo", node: "pg1", companion: "pgbouncer", sentAtMs: 9_000, failure },
    { kind: "companion", cluster: "demo", node: "pg1", companion: "pgbouncer", sentAtMs: 9_000, failure: null },
    { kind: "dcs", cluster: "demo", sentAtMs: 9_000, result: { failure } },
    { kind: "drain", cluster: "demo", node: "pg1", drain },
    { kind: "drain", cluster: "demo", node: "pg1", drain: null },
  ];
  assert.deepEqual(received(outcomes), outcomes);
});
