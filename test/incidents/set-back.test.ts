/** An incident in which a leader starts anew below what a replica has replayed (rule 6 (c)): its starts show it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbeOutcome, Recorded } from "../../src/core/cluster/outcome.ts";
import { incidentPieces } from "../../src/core/events/incident/incident-file.ts";
import { incidentSubject } from "../../src/core/events/incident/incident-subject.ts";
import { outcomeLine } from "../../src/features/history/store/history-lines.ts";
import { decodeOutcome } from "../../src/core/outcomes/outcome-codec.ts";
import { observeAll, policyOf, sentAt, statusOutcome, unprobedCluster } from "../core/health/arbitraries.ts";
import { lastSight, readIncident } from "./play.ts";

const policy = policyOf();

/** @param startedAt when the leader has started, as it states it at last */
function outcomesOf(startedAt: string | null): readonly ProbeOutcome[] {
  return [
    statusOutcome("pg2", 0, { received: 9_000, replayed: 9_000, startedAt: "one" }),
    statusOutcome("pg1", 500, { hasLock: true, location: 9_000, startedAt: "one" }),
    statusOutcome("pg2", 1_000, { received: 9_000, replayed: 9_000, startedAt: "one" }),
    statusOutcome("pg1", 1_500, { hasLock: true, location: 4_000, startedAt }),
    statusOutcome("pg1", 2_500, { hasLock: true, location: 9_500, startedAt }),
  ];
}

function incidentOf(outcomes: readonly ProbeOutcome[]): string {
  const recorded: readonly Recorded[] = outcomes.map((outcome) => ({
    atMs: sentAt(outcome),
    atWallMs: sentAt(outcome),
    outcome,
  }));
  const subject = incidentSubject(unprobedCluster(), policy);
  return [...incidentPieces({ subject, instantMs: 0, recorded, accused: new Map(), isComplete: true })].join("");
}

/** Outcomes as they are read from the history. */
function stored(outcomes: readonly ProbeOutcome[]): readonly ProbeOutcome[] {
  return outcomes.map((outcome) => {
    const { o }: { readonly o: unknown } = JSON.parse(outcomeLine(outcome, { atMs: 0, atWallMs: 0 }, "outcome"));
    return decodeOutcome("demo", o, { shiftMs: 0, sentOffsetMs: 0 }) ?? assert.fail("a damaged line");
  });
}

for (const [what, startedAt, upTo] of [
  ["that started anew", "two", 9_000],
  ["that was set back without a start", "one", null],
  ["that does not say when it started", null, null],
] as const) {
  test(`a replica past a leader ${what}: its mark is in a replay, of the memory and of the history`, () => {
    const outcomes = outcomesOf(startedAt);
    const { nodes } = observeAll(unprobedCluster(), outcomes, policy);
    assert.equal(nodes[1]?.attachment.fork?.upTo ?? null, upTo);
    for (const evidence of [outcomes, stored(outcomes)]) {
      const { cluster } = lastSight(readIncident(incidentOf(evidence), "set-back.yaml"));
      assert.deepEqual(cluster.nodes[1]?.attachment, nodes[1]?.attachment);
    }
  });
}

test("a file states starts, and has the format for them, only of nodes that started anew in its time", () => {
  const file = incidentOf(outcomesOf("two"));
  assert.match(file, /^format: 2\n/);
  const { moments } = readIncident(file, "set-back.yaml");
  const starts = moments
    .flatMap(({ outcomes }) => outcomes)
    .map((outcome) => outcome.kind === "status" && "report" in outcome.result && outcome.result.report.startedAt);
  assert.deepEqual(starts, [null, "one", null, "two", "two"]);
  for (const startedAt of ["one", null]) {
    const other = incidentOf(outcomesOf(startedAt));
    assert.match(other, /^format: 1\n/);
    assert.doesNotMatch(other, /postmaster_start_time/);
  }
});

test("another format than those that are known is refused, by its number", () => {
  const file = incidentOf(outcomesOf("two"));
  assert.throws(
    () => readIncident(file.replace("format: 2", "format: 3"), "set-back.yaml"),
    /set-back\.yaml\.format: it must be 1 or 2, the formats of this version, got 3/,
  );
});
