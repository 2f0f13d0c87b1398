import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type ExporterEvidence, noExporterEvidence } from "../../../../src/core/cluster/exporter/exporter-evidence.ts";
import type { ExporterPage } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import { lockHolderOf } from "../../../../src/core/cluster/leadership.ts";
import type { FailureKind, Observation } from "../../../../src/core/cluster/observation.ts";
import type { ExporterOutcome } from "../../../../src/core/cluster/outcome.ts";
import { observeExporter } from "../../../../src/core/health/observe/apply-exporter.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { primaryPage } from "../../../fake/exporter-page.ts";

type Result = ExporterOutcome["result"];

const up: Result = { endpoint: "up", role: "primary" };

function failed(endpoint: "up" | "metrics", kind: FailureKind = "timeout"): Result {
  const failure = { kind, detail: "" };
  return endpoint === "up" ? { endpoint, failure } : { endpoint, failure };
}

function outcome(result: Result, sentAtMs: number): ExporterOutcome {
  return { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs, sentAtWallMs: sentAtMs, result };
}

function pageAt(databaseTimeS: number | null, more: Partial<ExporterPage> = {}): Result {
  return { endpoint: "metrics", page: { ...primaryPage, databaseTimeS, ...more } };
}

suite("an exporter's evidence", () => {
  const after = (...outcomes: readonly (readonly [result: Result, sentAtMs: number])[]): ExporterEvidence =>
    outcomes.reduce<ExporterEvidence>(
      (known, [result, sentAtMs]) => observeExporter(known, outcome(result, sentAtMs)),
      noExporterEvidence,
    );

  test("ignores what is older than it, and replaces what is of the same instant", () => {
    const known = after([up, 2_000], [pageAt(1), 2_000]);
    assert.equal(observeExporter(known, outcome(up, 1_999)), known);
    assert.equal(observeExporter(known, outcome(pageAt(2), 1_999)), known);
    assert.equal(observeExporter(known, outcome({ endpoint: "up", role: "replica" }, 2_000)).up?.role, "replica");
    assert.equal(observeExporter(known, outcome(pageAt(2), 2_000)).page?.databaseTimeS, 2);
  });

  test("proves the database alive by a clock that advances, and by the word of postgres_exporter", () => {
    const other = { family: "postgres_exporter" } as const;
    const rows: readonly (readonly [given: string, is: ExporterEvidence, provenAtMs: number])[] = [
      ["one page", after([pageAt(1), 1_000]), -Infinity],
      ["a clock that advances", after([pageAt(1), 1_000], [pageAt(2), 2_000]), 2_000],
      ["one that stands still", after([pageAt(1), 1_000], [pageAt(1), 2_000]), -Infinity],
      ["one that is unknown", after([pageAt(null), 1_000], [pageAt(2), 2_000]), -Infinity],
      ["a page of postgres_exporter", after([pageAt(1, other), 1_000]), 1_000],
      ["one that says that the database is down", after([pageAt(1, { ...other, isUp: false }), 1_000]), -Infinity],
      ["that beside a clock that advances", after([pageAt(1), 0], [pageAt(2, { isUp: false }), 1_000]), -Infinity],
    ];
    for (const [given, { provenAtMs }, expected] of rows) assert.equal(provenAtMs, expected, given);
  });
});

type Sent = readonly [result: Result, sentAtMs: number, nowMs?: number];

suite("a node that is known through its exporter alone", () => {
  const nodes = [{ name: "pg1", api: null, exporter: "http://pg1:9630" }, "pg2"];
  /** The node after outcomes, each recorded when it was sent unless an instant is given. */
  const after = (...outcomes: readonly Sent[]): ClusterFixture => {
    const watched = new ClusterFixture({ nodes });
    for (const [result, sentAtMs, nowMs = sentAtMs] of outcomes) watched.record(outcome(result, sentAtMs), nowMs);
    return watched;
  };
  const nodeAfter = (...outcomes: readonly Sent[]): Observation | undefined => after(...outcomes).cluster.nodes[0];

  test("is not changed by a request that was never sent", () => {
    const watched = after([up, 0], [pageAt(1), 0]);
    const [before] = watched.cluster.nodes;
    for (const endpoint of ["up", "metrics"] as const)
      watched.record(outcome(failed(endpoint, "not_sent"), 1_000), 1_000);
    assert.equal(watched.cluster.nodes[0], before);
  });

  test("is down after three failures, also if an old answer arrives between them", () => {
    const failures = [1_000, 2_000, 3_000].map((atMs) => [failed("up"), atMs] as const);
    const [first = [up, 0] as const, ...more] = failures;
    assert.equal(nodeAfter([up, 900], first, [up, 500, 1_500], ...more)?.isDown, true);
  });

  test("is down after three failures of /up although its page answers", () => {
    const outcomes = [1_000, 2_000, 3_000].flatMap((atMs) => [
      [failed("up"), atMs] as const,
      [pageAt(atMs), atMs] as const,
    ]);
    assert.equal(nodeAfter([up, 0], ...outcomes)?.isDown, true);
  });

  test("is not down if its page, all that it has, answers between failures", () => {
    const outcomes = [1_000, 2_000, 4_000, 5_000].map((atMs) => [failed("metrics"), atMs] as const);
    const [first, second, ...more] = outcomes;
    assert.ok(first !== undefined && second !== undefined);
    const page = (databaseTimeS: number): Result => pageAt(databaseTimeS, { family: "postgres_exporter" });
    assert.equal(nodeAfter([page(0), 0], first, second, [page(3), 3_000], ...more)?.isDown, false);
    assert.equal(nodeAfter([page(0), 0], ...outcomes)?.isDown, true);
  });

  test("has a report as old as the older of /up and the page, if the page came last", () => {
    assert.equal(nodeAfter([up, 2_000], [pageAt(1), 1_000, 2_000])?.sentAtMs, 1_000);
    assert.equal(nodeAfter([up, 1_000], [pageAt(1), 2_000])?.sentAtMs, 1_000);
  });

  test("leads at a position as old as its page, however new the answer of /up", () => {
    const { cluster } = after([up, 1_000], [pageAt(1), 1_000], [up, 2_000], [pageAt(2), 2_000], [up, 4_000]);
    assert.equal(lockHolderOf(cluster.leadership), "pg1");
    assert.equal(cluster.positionSamples.at(-1)?.atMs, 2_000);
  });
});
