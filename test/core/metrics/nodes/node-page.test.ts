import { featureCounted } from "../../../../src/app/registry/counted.ts";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, test } from "node:test";
import type { ExporterConfig } from "../../../../src/core/config/model/config.ts";
import { Metrics } from "../../../../src/core/metrics/metrics.ts";
import { configOf } from "../../../fake/config.ts";
import { steadyCluster, ClusterFixture } from "../../../fake/cluster-fixture.ts";

const plain: ExporterConfig = { naming: "upstream", disableIntro: false, namespace: null, telemetryPath: "/metrics" };

function metricsOf(watched: readonly ClusterFixture[], exporter: Partial<ExporterConfig> = {}): Metrics {
  const clusters = watched.map(({ cluster }) => cluster);
  return new Metrics({
    asked: () => [],
    eventKinds: { cluster: ["primary_lost", "blind"], process: [] },
    counted: featureCounted,
    configInForce: () => ({ loadedAtMs: 0, refused: null }),
    snapshot: () => ({
      instance: "run",
      sequence: 7,
      clusters,
      index: new Map(clusters.map(({ name }, at) => [name, at])),
    }),
    policy: () => watched[0]?.policy,
    now: () => 2_000,
    wall: () => 1_795_242_555_000,
    answers: () => [],
    workers: () => null,
    fastPath: () => ({ requests: 5, fallbacks: { not_cached: 2, slow_reader: 0 }, trips: 1 }),
    found: () => [],
    ofFeatures: () => [],
    fed: () => new Set(),
    certificates: () => [],
    lostLogLines: () => 0,
    refresh: () => Promise.resolve(),
    exporter: () => ({ ...plain, ...exporter }),
    schedule: () => ({ probe: configOf({ clusters: [] }).probe, livenessIntervalFactor: 10 }),
    version: "1.2.3",
  });
}

async function textOf(metrics: Metrics): Promise<string> {
  return Buffer.concat((await metrics.render()).pieces).toString();
}

const probed = { cluster: "demo", node: "pg1", endpoint: "leader", outcome: "answered", durationMs: 30 };
/** The node metrics of seeds/node-api.md, without their prefixes. */
const ofNodes = [
  "version,db_running,postmaster_start_time,primary,xlog_location",
  "standby_leader,replica,sync_standby,quorum_standby,xlog_received_location",
  "xlog_replayed_location,xlog_replayed_timestamp,xlog_paused",
  "db_streaming,db_in_archive_recovery,db_server_version,cluster_unlocked",
  "failsafe_mode_is_active,failsafe_mode_enabled,failsafe_member,db_timeline",
  "dcs_last_seen,pending_restart,is_paused,db_state,failover_priority",
].flatMap((names) => names.split(","));
/** Those of seeds/exporter-api.md. */
const ofExporters = [
  "exporter_build_info,exporter_up,exporter_uptime",
  "exporter_scrape_total_count,exporter_scrape_error_count,exporter_scrape_duration",
  "exporter_last_scrape_time,exporter_server_scrape_duration",
  "exporter_server_scrape_total_seconds,exporter_server_scrape_total_count",
  "exporter_server_scrape_error_count,exporter_query_scrape_duration",
  "exporter_query_scrape_total_count,exporter_query_scrape_error_count",
  "exporter_query_scrape_hit_count,exporter_query_scrape_metric_count",
  "exporter_query_scrape_predicate_skip_count,exporter_query_cache_ttl",
].flatMap((names) => names.split(","));

/** One node that says all there is to say, and documents that say the rest. */
function telling(): ClusterFixture {
  const watched = new ClusterFixture();
  watched.lead("pg1", 1_000, {
    postmaster_start_time: "2026-11-21 06:29:02.500000+00:00",
    dcs_last_seen: 1_795_242_550,
  });
  watched.document("config", { of: "pg1", value: { ttl: 30, failsafe_mode: true } }, 1_000);
  const served = { status: 200, body: JSON.stringify({ pg1: "http://pg1:8008" }), source: "pg1", sentAtMs: 1_000 };
  watched.record({ kind: "document", cluster: "demo", answer: { name: "failsafe", served } }, 1_000);
  return watched;
}

suite("every metric of both seeds is there for a node that says all", () => {
  const rows: readonly [naming: "upstream" | "neutral", namespace: string | null, names: readonly string[]][] = [
    [
      "neutral",
      null,
      [...ofNodes.map((name) => `ha_${name}`), "db_up", "db_version", "db_in_recovery", ...ofExporters],
    ],
    [
      "upstream",
      null,
      [
        ...ofNodes.map((name) => `patroni_${name.replace(/^db_/, "postgres_")}`),
        "pg_up",
        "pg_version",
        "pg_in_recovery",
        ...ofExporters.map((name) => `pg_${name}`),
      ],
    ],
    ["neutral", "edge", ["edge_up", "edge_version", "edge_in_recovery", ...ofExporters.map((name) => `edge_${name}`)]],
  ];
  for (const [naming, namespace, names] of rows) {
    test(`naming ${naming}, namespace ${namespace}`, async () => {
      const metrics = metricsOf([telling()], { naming, namespace });
      metrics.probed(probed);
      const found = new Set((await textOf(metrics)).match(/^[a-z_]+(?=\{.*node="pg1")/gm));
      assert.deepEqual(
        names.filter((name) => !found.has(name)),
        [],
      );
    });
  }

  test("has the values of the document", async () => {
    const text = await textOf(metricsOf([telling()], { naming: "neutral" }));
    const labels = '{scope="demo",name="pg1",cluster="demo",node="pg1"}';
    for (const [name, value] of [
      ["ha_version", 40_104],
      ["ha_primary", 1],
      ["ha_replica", 0],
      ["ha_xlog_location", 1_000],
      ["ha_postmaster_start_time", Date.UTC(2026, 10, 21, 6, 29, 2, 500) / 1000],
      ["ha_db_state", 5],
      ["ha_db_server_version", 150_000],
      ["ha_failsafe_mode_enabled", 1],
      ["ha_failsafe_member", 1],
      ["ha_failover_priority", 1],
      ["ha_dcs_last_seen", 1_795_242_550],
    ] as const)
      assert.ok(text.includes(`${name}${labels} ${value}\n`), name);
  });

  test("omits up, version, in_recovery and the exporter's own group with disable_intro, and nothing else", async () => {
    const metrics = metricsOf([telling()], { disableIntro: true });
    metrics.probed(probed);
    const text = await textOf(metrics);
    assert.doesNotMatch(text, /^pg_/m);
    assert.match(text, /^patroni_primary\{/m);
    assert.match(text, /^rolecall_node_up\{/m);
  });

  test("shows no document of a stale node, but its last role and version", async () => {
    const watched = telling();
    watched.cluster = {
      ...watched.cluster,
      nodes: watched.cluster.nodes.map((node) => ({ ...node, sentAtMs: node.sentAtMs - 60_000 })),
    };
    const text = await textOf(metricsOf([watched]));
    assert.doesNotMatch(text, /^patroni_primary\{/m);
    assert.match(text, /^pg_up\{cluster="demo",node="pg1"\} 0$/m);
    assert.match(text, /^pg_version\{cluster="demo",node="pg1"\} 150000$/m);
  });
});

test("passes promtool check metrics", async (context) => {
  if (spawnSync("promtool", ["--version"]).status !== 0) {
    context.skip("not run: promtool is not installed");
    return;
  }
  for (const naming of ["upstream", "neutral"] as const) {
    const other = steadyCluster();
    other.cluster = { ...other.cluster, name: 'o"t\\h\ner' };
    const metrics = metricsOf([telling(), other], { naming });
    metrics.probed(probed);
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: await textOf(metrics),
      encoding: "utf8",
    });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
});

suite("a scrape of 1,000 nodes", () => {
  const many = (): ClusterFixture => {
    const names = Array.from({ length: 1_000 }, (_, at) => `pg${at}`);
    const watched = new ClusterFixture({ nodes: names });
    const nodes = watched.cluster.nodes.map((node) => ({ ...node, sentAtMs: 1_900 }));
    watched.cluster = { ...watched.cluster, nodes, newestReportAtMs: 1_900 };
    for (const name of names.slice(0, 50)) watched.follow(name, 1_950);
    return watched;
  };

  test("yields to other work many times", async () => {
    let turns = 0;
    const metrics = metricsOf([many()]);
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const text = await textOf(metrics);
    isOver = true;
    assert.equal(text.match(/^rolecall_node_up\{/gm)?.length, 1_000);
    assert.ok(turns > 10, `other work came in ${turns} times`);
  });

  test("is rendered once for all scrapes that come meanwhile", async () => {
    const metrics = metricsOf([many()]);
    const [one, other] = [metrics.render(), metrics.render()];
    assert.equal(one, other);
    assert.notEqual((await one).pieces, (await metrics.render()).pieces);
  });
});
