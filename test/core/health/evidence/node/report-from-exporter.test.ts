import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  noExporterEvidence,
  type ExporterEvidence,
} from "../../../../../src/core/cluster/exporter/exporter-evidence.ts";
import type { ExporterPage, ExporterRole } from "../../../../../src/core/cluster/exporter/exporter-report.ts";
import type { Node } from "../../../../../src/core/cluster/node.ts";
import { lockHolderOf } from "../../../../../src/core/cluster/leadership.ts";
import type { ExporterOutcome } from "../../../../../src/core/cluster/outcome.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import {
  isPrimarySource,
  isSenderTo,
  reportFromExporter,
  type ExporterReport,
} from "../../../../../src/core/health/evidence/node/report-from-exporter.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { primaryPage, replicaPage } from "../../../../fake/exporter-page.ts";

const nodes = ["pg1", "pg2", "pg3"].map((name, at) => ({
  name,
  api: null,
  exporter: `http://${name}:9630`,
  member: `member-of-${name}`,
  database: { host: `10.0.0.${at + 1}`, port: 5432 },
}));
const { cluster, policy } = new ClusterFixture({ nodes });
const context = { policy, nowMs: 2_000 };

function nodeIn(state: ClusterState, name: string): Node {
  const found = nodeNamed(state, name);
  assert.ok(found !== undefined);
  return found.node;
}

function evidence(up: ExporterRole | null, page: ExporterPage | null): ExporterEvidence {
  const known = up === null ? null : { role: up, sentAtMs: 2_000 };
  return { ...noExporterEvidence, up: known, page, pageSentAtMs: page === null ? -Infinity : 1_000 };
}

function reported(up: ExporterRole | null, page: ExporterPage | null, state: ClusterState = cluster): ExporterReport {
  const report = reportFromExporter(state, { node: nodeIn(state, "pg3"), evidence: evidence(up, page) }, context);
  assert.ok(report !== null);
  return report;
}

test("an exporter that has answered nothing gives no report", () => {
  assert.equal(
    reportFromExporter(cluster, { node: nodeIn(cluster, "pg3"), evidence: noExporterEvidence }, context),
    null,
  );
});

suite("role, state and claim", () => {
  const unsure = { ...primaryPage, isInRecovery: null };
  const down = { ...primaryPage, isUp: false };
  const rows: readonly (readonly [
    given: string,
    up: ExporterRole | null,
    page: ExporterPage | null,
    is: readonly [role: string, state: string, hasLock: boolean],
  ])[] = [
    ["/up alone: primary", "primary", null, ["primary", "running", true]],
    ["/up alone: replica", "replica", null, ["replica", "running", false]],
    ["/up alone: down", "down", null, ["unknown", "stopped", false]],
    ["/up alone: starting", "starting", null, ["unknown", "starting", false]],
    ["/up alone: unknown", "unknown", null, ["unknown", "unknown", false]],
    ["both: primary", "primary", primaryPage, ["primary", "running", true]],
    ["both: replica", "replica", replicaPage, ["replica", "running", false]],
    ["a promotion that only /up shows", "primary", replicaPage, ["unknown", "running", false]],
    ["a promotion that only the page shows", "replica", primaryPage, ["unknown", "running", false]],
    ["/up, and a page that does not know", "replica", unsure, ["replica", "running", false]],
    ["a primary that is down", "down", primaryPage, ["primary", "stopped", false]],
    ["a replica that starts", "starting", replicaPage, ["replica", "starting", false]],
    ["a page alone: primary", null, primaryPage, ["primary", "running", true]],
    ["a page alone: replica", null, replicaPage, ["replica", "running", false]],
    ["a page alone: down", null, down, ["primary", "stopped", false]],
    ["a page alone that does not know", null, unsure, ["unknown", "running", false]],
    ["a pooler", "primary", { ...primaryPage, isPooler: true }, ["pooler", "running", false]],
  ];
  for (const [given, up, page, is] of rows)
    test(`by ${given}`, () => {
      const { report, hasLock } = reported(up, page);
      assert.deepEqual([report.role, report.state, hasLock], is);
    });
});

suite("positions", () => {
  const figures = ({ report }: ExporterReport): readonly unknown[] => [
    report.location,
    report.received,
    report.replayed,
  ];
  // A page has all figures that the exporter has, whatever the role.
  const all = { written: 5_000, received: 4_000, replayed: 3_000 };

  test("a primary has the written one, a replica what it received and replayed", () => {
    assert.deepEqual(figures(reported("primary", { ...primaryPage, ...all })), [5_000, null, null]);
    assert.deepEqual(figures(reported("replica", { ...replicaPage, ...all })), [null, 4_000, 3_000]);
  });

  test("without a page there are none", () => {
    assert.deepEqual(figures(reported("primary", null)), [null, null, null]);
    assert.deepEqual(figures(reported("replica", null)), [null, null, null]);
  });

  test("the timeline of a page is no evidence: it is old for minutes after a promotion", () => {
    assert.equal(reported("primary", { ...primaryPage, timeline: 7 }).report.timeline, null);
  });

  test("what a standby does not state itself comes from the young page of the accepted leader", () => {
    const lists = {
      // It claims too, and lists the standby, but the standbys receive from pg2.
      pg1: [{ name: "pg3", address: null, isStreaming: false, replayed: 9_000 }],
      pg2: [
        { name: "archiver", address: null, isStreaming: true, replayed: 8_000 },
        { name: "pg3", address: null, isStreaming: true, replayed: 2_500 },
      ],
    };
    const watched = new ClusterFixture({ nodes });
    const record = (node: string, result: ExporterOutcome["result"], atMs: number): void => {
      watched.record({ kind: "exporter", cluster: "demo", node, sentAtMs: atMs, sentAtWallMs: atMs, result }, atMs);
    };
    const page = { ...replicaPage, replayed: null };
    for (const atMs of [0, 1_000]) {
      for (const [node, senders] of Object.entries(lists)) {
        record(node, { endpoint: "up", role: "primary" }, atMs);
        record(node, { endpoint: "metrics", page: { ...primaryPage, senders, databaseTimeS: atMs } }, atMs);
      }
      record("pg3", { endpoint: "up", role: "replica" }, atMs);
      record("pg3", { endpoint: "metrics", page: { ...page, databaseTimeS: atMs } }, atMs);
    }
    assert.equal(lockHolderOf(watched.cluster.leadership), "pg2");
    assert.equal(reported("replica", page, watched.cluster).report.replayed, 2_500);
    assert.equal(reported("replica", { ...page, replayed: 3_000 }, watched.cluster).report.replayed, 3_000);
    const old = { policy, nowMs: 1_000 + policy.pageMaxAgeMs };
    const silent = { node: nodeIn(watched.cluster, "pg3"), evidence: evidence("replica", page) };
    const late = reportFromExporter(watched.cluster, silent, old);
    assert.equal(late?.report.replayed, null);
  });

  test("a node's own list says nothing of itself", () => {
    const watched = new ClusterFixture({ nodes });
    const senders = [{ name: "pg3", address: null, isStreaming: true, replayed: 9_000 }];
    const sent = { kind: "exporter", cluster: "demo", node: "pg3", sentAtMs: 0, sentAtWallMs: 0 } as const;
    watched.record({ ...sent, result: { endpoint: "up", role: "primary" } }, 0);
    watched.record({ ...sent, result: { endpoint: "metrics", page: { ...primaryPage, senders } } }, 0);
    const page = { ...replicaPage, replayed: null };
    assert.equal(reported("replica", page, watched.cluster).report.replayed, null);
  });
});

test("the report is as old as the answer of /up, or without one as the page", () => {
  assert.equal(reported("primary", primaryPage).sentAtMs, 2_000);
  assert.equal(reported(null, primaryPage).sentAtMs, 1_000);
});

suite("the report's other fields", () => {
  const senders = [
    { name: "pg1", address: "10.0.0.1", isStreaming: true, replayed: 1 },
    { name: "pg2", address: null, isStreaming: false, replayed: null },
  ];

  test("list the standbys, and which of them stream", () => {
    assert.deepEqual(reported("primary", { ...primaryPage, senders }).report.senders, [
      { name: "pg1", address: "10.0.0.1", state: "streaming" },
      { name: "pg2", address: null, state: "other" },
    ]);
    assert.deepEqual(reported("primary", null).report.senders, []);
  });

  test("say whether the node streams, and of which system it is", () => {
    const of = (receiver: ExporterPage["receiver"]): string | null =>
      reported("replica", { ...replicaPage, receiver }).report.replicationState;
    const receiver = { host: "10.0.0.1", port: 5432, isStreaming: true };
    assert.deepEqual([of(receiver), of({ ...receiver, isStreaming: false }), of(null)], ["streaming", null, null]);
    assert.equal(reported("replica", null).report.replicationState, null);
    assert.equal(reported("replica", replicaPage).report.system, "7000000000000000001");
    assert.equal(reported("replica", null).report.system, null);
  });

  test("have a status document as a node would write it", () => {
    const documentOf = (up: ExporterRole, page: ExporterPage | null): unknown =>
      JSON.parse(reported(up, page).report.document);
    const version = { server_version: 150_020, timeline: 1, database_system_identifier: "7000000000000000001" };
    assert.deepEqual(documentOf("replica", null), { state: "running", role: "replica" });
    assert.deepEqual(documentOf("replica", { ...replicaPage, received: 4_000, replayed: 3_000 }), {
      state: "running",
      role: "replica",
      ...version,
      xlog: { received_location: 4_000, replayed_location: 3_000 },
    });
    assert.deepEqual(documentOf("primary", { ...primaryPage, system: null, senders }), {
      state: "running",
      role: "primary",
      server_version: 150_020,
      timeline: 1,
      xlog: { location: 5_000 },
      replication: [
        { application_name: "pg1", client_addr: "10.0.0.1", state: "streaming" },
        { application_name: "pg2", client_addr: null, state: "other" },
      ],
    });
  });
});

test("/up decides over a node, or the page of postgres_exporter, which has no /up", () => {
  const postgresExporter = { ...primaryPage, family: "postgres_exporter" } as const;
  const rows: readonly (readonly [up: ExporterRole | null, page: ExporterPage | null, by: "up" | "metrics"])[] = [
    [null, null, "up"],
    [null, primaryPage, "up"],
    ["primary", primaryPage, "up"],
    [null, postgresExporter, "metrics"],
    ["primary", postgresExporter, "up"],
  ];
  for (const [up, page, by] of rows)
    for (const endpoint of ["up", "metrics"] as const)
      assert.equal(isPrimarySource(evidence(up, page), endpoint), endpoint === by, `${up} ${page?.family} ${endpoint}`);
});

test("a sender row is about the node of its name, else about the only node at its address", () => {
  const shared = new ClusterFixture({ nodes: nodes.map((one) => ({ ...one, database: { host: "h", port: 5432 } })) });
  const rows: readonly (readonly [name: string, address: string | null, isAbout: boolean])[] = [
    ["pg3", null, true],
    ["member-of-pg3", null, true],
    ["walreceiver", null, false],
    ["walreceiver", "10.0.0.3", true],
    ["walreceiver", "10.0.0.2", false],
    ["walreceiver", "10.0.0.9", false],
    ["pg2", "10.0.0.3", false],
    ["member-of-pg2", "10.0.0.3", false],
  ];
  for (const [name, address, isAbout] of rows) {
    const sender = { name, address, isStreaming: true, replayed: null };
    assert.equal(isSenderTo(cluster, { sender, node: nodeIn(cluster, "pg3") }), isAbout, `${name} ${address}`);
  }
  const sender = { name: "walreceiver", address: "h", isStreaming: true, replayed: null };
  for (const name of ["pg1", "pg2", "pg3"])
    assert.equal(isSenderTo(shared.cluster, { sender, node: nodeIn(shared.cluster, name) }), false, name);
});
