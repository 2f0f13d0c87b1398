import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import type { ExporterPage, ExporterRole } from "../../../../../src/core/cluster/exporter/exporter-report.ts";
import { plainCheck } from "../../../../../src/core/health/check.ts";
import { disagreement } from "../../../../../src/core/health/evidence/leadership/exporter-disagreement.ts";
import { explain } from "../../../../../src/core/health/rules/explain.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { primaryPage, replicaPage } from "../../../../fake/exporter-page.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** Three nodes that are known through exporters alone; their databases listen on 5541, 5542 and 5543 of one machine. */
function plain(): ClusterFixture {
  const nodes = [1, 2, 3].map((number) => ({
    name: `pg${number}`,
    api: null,
    exporter: `http://pg${number}:9630`,
    database: { host: "127.0.0.1", port: 5540 + number },
  }));
  return new ClusterFixture({ nodes });
}

function say(
  watched: ClusterFixture,
  node: string,
  answers: { readonly role?: ExporterRole; readonly page?: Partial<ExporterPage> },
  atMs: number,
): void {
  const sent = { kind: "exporter", cluster: "demo", node, sentAtMs: atMs, sentAtWallMs: atMs } as const;
  if (answers.role !== undefined) watched.record({ ...sent, result: { endpoint: "up", role: answers.role } }, atMs);
  if (answers.page === undefined) return;
  const base = answers.page.isInRecovery === true ? replicaPage : primaryPage;
  watched.record(
    { ...sent, result: { endpoint: "metrics", page: { ...base, databaseTimeS: atMs / 1000, ...answers.page } } },
    atMs,
  );
}

/** Two pages a second apart, so that the database's own time has advanced. */
function live(
  watched: ClusterFixture,
  node: string,
  answers: { readonly role: ExporterRole; readonly page: Partial<ExporterPage> },
  atMs: number,
): void {
  say(watched, node, answers, atMs - 1_000);
  say(watched, node, answers, atMs);
}

const receivesFrom = (port: number): Partial<ExporterPage> => ({
  isInRecovery: true,
  receiver: { host: "127.0.0.1", port, isStreaming: true },
});

suite("two nodes that are not in recovery, without a cluster manager", () => {
  test("the one that the standby receives from is primary, and the other is superseded", () => {
    const watched = plain();
    live(watched, "pg1", { role: "primary", page: {} }, 2_000);
    live(watched, "pg2", { role: "primary", page: {} }, 2_000);
    live(watched, "pg3", { role: "replica", page: receivesFrom(5542) }, 2_000);
    assert.deepEqual(
      [watched.judge("pg1", "primary", 2_000), watched.judge("pg2", "primary", 2_000)],
      ["superseded", "fit"],
    );
  });

  test("the one whose sender list has the standby is primary, if the standby states no receiver", () => {
    const watched = plain();
    const senders = [{ name: "pg3", address: null, isStreaming: true, replayed: 4_000 }];
    live(watched, "pg1", { role: "primary", page: { senders, streaming: 1 } }, 2_000);
    live(watched, "pg2", { role: "primary", page: {} }, 2_000);
    live(watched, "pg3", { role: "replica", page: { isInRecovery: true } }, 2_000);
    assert.deepEqual(
      [watched.judge("pg1", "primary", 2_000), watched.judge("pg2", "primary", 2_000)],
      ["fit", "superseded"],
    );
  });

  test("neither is primary if no standby receives from either, whatever the incumbent and the timelines", () => {
    const watched = plain();
    live(watched, "pg1", { role: "primary", page: { timeline: 9 } }, 2_000);
    assert.equal(watched.judge("pg1", "primary", 2_000), "fit");
    live(watched, "pg2", { role: "primary", page: {} }, 3_000);
    live(watched, "pg3", { role: "replica", page: { isInRecovery: true } }, 3_000);
    assert.deepEqual(
      [watched.judge("pg1", "primary", 3_000), watched.judge("pg2", "primary", 3_000)],
      ["contested", "contested"],
    );
    assert.equal(watched.judge("pg3", "replica", 3_000), "fit");
  });

  test("the claim of a frozen database ends when its last page expires", () => {
    const watched = plain();
    live(watched, "pg1", { role: "primary", page: {} }, 2_000);
    for (let atMs = 3_000; atMs <= 20_000; atMs += 1_000) say(watched, "pg1", { role: "primary" }, atMs);
    live(watched, "pg2", { role: "primary", page: {} }, 20_000);
    assert.deepEqual(
      [watched.judge("pg1", "primary", 20_000), watched.judge("pg2", "primary", 20_000)],
      ["stale", "fit"],
    );
  });
});

test("for a node without an API an explanation names the exporter behind each rule", () => {
  const watched = plain();
  live(watched, "pg1", { role: "primary", page: {} }, 2_000);
  const [first] = watched.cluster.nodes;
  assert.ok(first !== undefined);
  const { rules } = explain(viewAt(watched.cluster, watched.policy, 2_100), first, plainCheck("primary"));
  const sources = Object.fromEntries(rules.map(({ rule, source }) => [rule, source]));
  assert.deepEqual(
    [sources["reachable"], sources["database activity"]],
    ["GET /up of the exporter of pg1", "GET /metrics of the exporter of pg1"],
  );
});

suite("a promotion without a cluster manager", () => {
  test("takes effect once /up and the page agree, and the old primary is demoted", () => {
    const watched = plain();
    live(watched, "pg1", { role: "primary", page: {} }, 2_000);
    live(watched, "pg2", { role: "replica", page: { isInRecovery: true } }, 2_000);
    say(watched, "pg1", { role: "replica", page: { isInRecovery: true } }, 3_000);
    say(watched, "pg2", { role: "primary" }, 3_000);
    assert.equal(watched.judge("pg2", "primary", 3_000), "unknown");
    say(watched, "pg2", { page: {} }, 3_100);
    assert.equal(watched.judge("pg2", "primary", 3_100), "fit");
    assert.equal(watched.judge("pg1", "primary", 3_100), "demoted");
    assert.equal(watched.judge("pg1", "replica", 3_100), "fit");
  });

  test("measures lag against the new primary's own positions", () => {
    const watched = plain();
    live(watched, "pg1", { role: "primary", page: { written: 9_000 } }, 2_000);
    live(watched, "pg2", { role: "replica", page: { isInRecovery: true, replayed: 4_000 } }, 2_000);
    assert.equal(watched.judge("pg2", "replica?lag=5000", 2_000), "fit");
    assert.equal(watched.judge("pg2", "replica?lag=4999", 2_000), "lagging");
    assert.equal(watched.judge("pg3", "replica", 2_000), "unknown");
  });
});

suite("an exporter beside a node's API", () => {
  const beside = (): ClusterFixture =>
    new ClusterFixture({ nodes: [{ name: "pg1", api: "http://pg1:8008", exporter: "http://pg1:9630" }, "pg2"] });

  test("is shown if it reports another role, without effect on verdicts", () => {
    const watched = beside();
    watched.lead("pg1", 1_000);
    say(watched, "pg1", { role: "replica", page: { isInRecovery: true } }, 1_000);
    const [first] = watched.cluster.nodes;
    assert.ok(first !== undefined);
    assert.deepEqual(disagreement(viewAt(watched.cluster, watched.policy, 1_100), first), {
      node: "primary",
      exporter: "replica",
    });
    assert.equal(watched.judge("pg1", "primary", 1_100), "fit");
  });

  test("does not disagree if it agrees, is silent, stale or a pooler's", () => {
    for (const [role, page, nowMs] of [
      ["primary", {}, 1_100],
      ["replica", {}, 9_000],
      ["replica", { isPooler: true }, 1_100],
    ] as const) {
      const watched = beside();
      watched.lead("pg1", 1_000);
      say(watched, "pg1", { role, page }, 1_000);
      const [first] = watched.cluster.nodes;
      assert.ok(first !== undefined);
      assert.equal(disagreement(viewAt(watched.cluster, watched.policy, nowMs), first), null);
    }
  });

  test("does not affect the node's yes when it fails", () => {
    const watched = beside();
    watched.lead("pg1", 1_000);
    for (let time = 0; time < 5; time += 1) {
      const failure = { kind: "refused", detail: "a planted refusal" } as const;
      const sent = { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: 1_000 + time, sentAtWallMs: 0 } as const;
      watched.record({ ...sent, result: { endpoint: "up", failure } }, 1_000 + time);
      watched.record({ ...sent, result: { endpoint: "metrics", failure } }, 1_000 + time);
    }
    assert.equal(watched.judge("pg1", "primary", 1_100), "fit");
  });
});

test("a node whose /up fails is down, although its page still answers, until /up answers again", () => {
  const watched = plain();
  live(watched, "pg1", { role: "primary", page: {} }, 2_000);
  const observation = (): Observation => {
    const found = watched.cluster.nodes.find(({ node }) => node.name === "pg1");
    assert.ok(found !== undefined);
    return found;
  };
  const failure = { kind: "status", detail: "status 500" } as const;
  for (let atMs = 3_000; atMs <= 9_000; atMs += 1_000) {
    const sent = { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: atMs, sentAtWallMs: atMs } as const;
    watched.record({ ...sent, result: { endpoint: "up", failure } }, atMs);
    say(watched, "pg1", { page: {} }, atMs + 500);
  }
  assert.deepEqual([observation().isDown, observation().failuresInRow], [true, 7]);
  say(watched, "pg1", { role: "primary" }, 10_000);
  assert.deepEqual([observation().isDown, observation().failuresInRow], [false, 0]);
});
