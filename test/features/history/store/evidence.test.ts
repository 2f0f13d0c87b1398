import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { incidentEntry } from "../../../../src/core/cluster/incident/incident.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { impliedPage } from "../../../../src/core/cluster/incident/incident-exporter.ts";
import { EvidenceScan } from "../../../../src/features/history/store/evidence-scan.ts";
import { outcomeLine, startLine } from "../../../../src/features/history/store/history-lines.ts";
import { reportOf } from "../../../fake/node-documents.ts";
import { until } from "../../../fake/until.ts";
import { policyOf } from "../../../core/health/arbitraries.ts";
import { filesIn, historyConfig, openHistory, temporaryDirectory, type HistoryFixture } from "./history-fixture.ts";

const of = { scope: "demo", system: null, version: null, members: new Map() };
const named = { cluster: "demo", node: "pg1", sentAtMs: 900 } as const;
const failure = { kind: "timeout", detail: "" } as const;
const served = { status: 200, body: "{}", source: "pg1", sentAtMs: 900 };
const drain = { reason: "disk swap", by: null, extent: "all" as const, untilMs: 90_000, since: "", until: "" };

const outcomes: readonly ProbeOutcome[] = [
  {
    kind: "status",
    ...named,
    sentAtWallMs: 0,
    result: { report: reportOf("pg1", { tags: { zone: "a" } }), hasLock: true },
  },
  { kind: "status", ...named, sentAtWallMs: 0, result: { failure } },
  { kind: "liveness", ...named, isAlive: false },
  { kind: "view_failure", ...named, failure },
  { kind: "dcs", cluster: "demo", sentAtMs: named.sentAtMs, result: { failure } },
  {
    kind: "dcs",
    cluster: "demo",
    sentAtMs: named.sentAtMs,
    result: { read: { leader: "pg1", source: "etcd 1 /service/demo/leader", revision: 12, hasScope: true } },
  },
  { kind: "drain", cluster: "demo", node: "pg1", drain },
  { kind: "exporter", ...named, sentAtWallMs: 0, result: { endpoint: "up", role: "primary" } },
  { kind: "exporter", ...named, sentAtWallMs: 0, result: { endpoint: "metrics", failure } },
  {
    kind: "exporter",
    ...named,
    sentAtWallMs: 0,
    result: { endpoint: "metrics", page: { ...impliedPage(of), written: 7 } },
  },
  {
    kind: "document",
    cluster: "demo",
    answer: {
      name: "cluster",
      served,
      cluster: {
        scope: "demo",
        members: [],
        leftOut: [],
        isPartial: false,
        isLeaderUnreadable: false,
        leader: "pg1",
        leaderApi: null,
        leaderTimeline: 4,
      },
    },
  },
  {
    kind: "document",
    cluster: "demo",
    answer: {
      name: "config",
      served,
      config: {
        ttlMs: 30_000,
        loopWaitMs: 10_000,
        retryTimeoutMs: 10_000,
        lagMaxOnFailover: 1,
        isStandbyCluster: true,
        isSynchronous: true,
        isSynchronousStrict: true,
      },
    },
  },
  {
    kind: "document",
    cluster: "demo",
    answer: {
      name: "history",
      served,
      history: new Map([
        [1, 100],
        [2, 200],
      ]),
    },
  },
];

/** The steps of an incident file between two times, as [time in ms of the clock, section, value]. */
async function stepsOf({ store }: HistoryFixture, fromWallMs: number, toWallMs: number): Promise<readonly unknown[]> {
  const { recorded } = await store.readEvidence({ cluster: "demo", fromWallMs, toWallMs, aroundWallMs: fromWallMs });
  return recorded.map(({ atMs, outcome }) => [Math.round(atMs), incidentEntry({ atMs, outcome }, of)]);
}

test("outcomes of every kind are in an incident file as they would be without a restart", async (context) => {
  const directory = temporaryDirectory(context);
  const earlier = await openHistory(context, historyConfig(directory));
  const { nowMs, wallMs } = earlier.clock;
  for (const [at, outcome] of outcomes.entries()) earlier.store.addOutcome(outcome, nowMs + at, wallMs + at);
  earlier.store.addOutcome({ ...named, kind: "liveness", cluster: "other", isAlive: true }, nowMs, wallMs);
  await earlier.store.stop();
  const expected = outcomes.map((outcome, at) => [nowMs + at, incidentEntry({ atMs: nowMs + at, outcome }, of)]);
  const later = await openHistory(context, historyConfig(directory), "run2");
  // A process that began a minute later: the same instants have other values in its clock.
  later.clock.wallMs = wallMs + 60_000;
  later.clock.nowMs = nowMs;
  assert.deepEqual(
    await stepsOf(later, wallMs, wallMs + 100),
    expected.map(([at, step]) => [Number(at) - 60_000, step]),
  );
  assert.deepEqual(
    await stepsOf(later, wallMs + 1, wallMs + 2),
    (await stepsOf(later, wallMs, wallMs + 100)).slice(1, 3),
  );
});

test("a drain and the accusations that held at the beginning are known", async (context) => {
  const directory = temporaryDirectory(context);
  const fixture = await openHistory(context, historyConfig(directory));
  const { store, clock } = fixture;
  const { nowMs, wallMs } = clock;
  const add = (outcome: ProbeOutcome, atMs: number): void => store.addOutcome(outcome, nowMs + atMs, wallMs + atMs);
  add({ kind: "drain", cluster: "demo", node: "pg1", drain: { ...drain, untilMs: nowMs + 60_000 } }, 0);
  add({ kind: "drain", cluster: "demo", node: "pg2", drain: { ...drain, untilMs: nowMs + 60_000 } }, 0);
  store.addAccused("demo", new Map([["pg3", ["detached"]]]), wallMs + 5);
  add({ kind: "drain", cluster: "demo", node: "pg2", drain: null }, 10);
  for (const at of [15, 25]) add({ ...named, kind: "liveness", isAlive: true }, at);
  const evidence = await until("the evidence on disk", async () => {
    const time = { fromWallMs: wallMs + 20, toWallMs: wallMs + 30, aroundWallMs: wallMs + 25 };
    const found = await store.readEvidence({ cluster: "demo", ...time });
    return found.recorded.length > 0 && found;
  });
  assert.deepEqual(
    evidence.recorded.map(({ outcome }) => [outcome.kind, "node" in outcome && outcome.node]),
    [
      ["drain", "pg1"],
      ["liveness", "pg1"],
    ],
  );
  assert.deepEqual([...evidence.accused], [["pg3", ["detached"]]]);
  assert.ok(Math.abs(((await store.oldestEvidenceMs()) ?? 0) - wallMs) <= 1);
});

test("of too much evidence, what is farthest from the wanted instant is left out", () => {
  const query = { cluster: "demo", fromWallMs: 0, toWallMs: 200, run: "run1", wallOffsetMs: 0 };
  for (const [aroundWallMs, first, last] of [
    [0, 0, 79],
    [100, 60, 139],
    [199, 120, 199],
  ] as const) {
    const scan = new EvidenceScan({ ...query, aroundWallMs });
    scan.add(startLine(0, "run1", 0));
    // About 80 lines of 100,000 characters are kept.
    const liveness = { ...named, kind: "liveness", isAlive: true } as const;
    for (let at = 0; at < 200; at += 1) {
      const line = outcomeLine(liveness, { atMs: at, atWallMs: at }, "outcome");
      assert.equal(scan.add(`${line.slice(0, -1)},"x":"${"x".repeat(100_000)}"}`), "read");
    }
    const { recorded, isComplete } = scan.result;
    assert.equal(isComplete, false);
    assert.ok(Math.abs((recorded[0]?.atWallMs ?? NaN) - first) <= 4, `${recorded[0]?.atWallMs} begins`);
    assert.ok(Math.abs((recorded.at(-1)?.atWallMs ?? NaN) - last) <= 4, `${recorded.at(-1)?.atWallMs} ends`);
  }
});

test("what a file states about the cluster is written when it changes, and once for each file", async (context) => {
  const directory = temporaryDirectory(context);
  const { store, clock, cluster } = await openHistory(context, historyConfig(directory));
  const policy = policyOf();
  const [pg1, ...others] = cluster.nodes;
  assert.ok(pg1);
  // A probe replaces the state of a node, and keeps the node.
  const probed = { ...cluster, nodes: [{ ...pg1, failures: 1 }, ...others] };
  for (const state of [cluster, probed, { ...cluster, nodes: others }]) store.addSubject(state, policy, clock.wallMs);
  store.addSubject({ ...cluster, nodes: others }, { ...policy, fall: 7 }, clock.wallMs);
  await store.stop();
  const [name = ""] = filesIn(directory);
  const lines = readFileSync(join(directory, name), "utf8")
    .split("\n")
    .filter((line) => line.includes('"k":"cluster"'));
  const stated = lines.map((line) => {
    const { nodes, settings } = JSON.parse(line) as { nodes: { name: string }[]; settings: { fall: number } };
    return [nodes.map((node) => node.name).join(), settings.fall];
  });
  assert.deepEqual(stated, [
    ["pg1,pg2,pg3", 3],
    ["pg1,pg2,pg3", 3],
    ["pg2,pg3", 3],
    ["pg2,pg3", 7],
  ]);
});
