import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { explainText, statText } from "../../../src/features/exporter/collector-reports.ts";
import { collectorsOf } from "../../../src/core/metrics/collectors/collectors.ts";
import { ProbeStats } from "../../../src/core/metrics/collectors/probe-stats.ts";
import { configOf } from "../../fake/config.ts";
import { exporterFixtures } from "../../fake/fake-exporter.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const { probe } = configOf({ clusters: [] });
const schedule = {
  probe: { ...probe, intervalMs: 1_000, timeoutMs: 2_500, metricsIntervalMs: 3_000 },
  livenessIntervalFactor: 10,
};
const { cluster } = new ClusterFixture({
  nodes: [{ name: "pg1", api: "http://pg1:8008", exporter: "http://pg1:9630" }, "pg2"],
});

suite("collectors", () => {
  test("are listed for every node with the endpoints that it has", () => {
    const names = collectorsOf(cluster, null, schedule).map(({ name }) => name);
    assert.deepEqual(names.slice(0, 6), [
      "demo.pg1.leader",
      "demo.pg2.leader",
      "demo.pg1.up",
      "demo.pg1.metrics",
      "demo.pg1.liveness",
      "demo.pg2.liveness",
    ]);
    assert.ok(!names.includes("demo.pg2.up"));
    assert.ok(collectorsOf(cluster, "pg2", schedule).every(({ node }) => node === "pg2"));
  });

  test("/stat has the upstream's header and columns", () => {
    const recorded =
      readFileSync(join(exporterFixtures, "pg_exporter-lagging-pg1-stat.http"), "utf8").split(/\r?\n\r?\n/)[1] ?? "";
    const probeStats = new ProbeStats();
    for (const outcome of ["answered", "timeout", "skipped"])
      probeStats.count({ cluster: "demo", node: "pg1", endpoint: "leader", outcome, durationMs: 0.5 }, 1);
    const [collector] = collectorsOf(cluster, "pg1", schedule);
    assert.ok(collector !== undefined);
    const [header, row] = statText([{ collector, stat: probeStats.of("demo", "pg1", "leader"), metrics: 1 }]).split(
      "\n",
    );
    assert.equal(header, recorded.split("\n")[0]);
    assert.equal(
      row,
      "demo.pg1.leader          2          1          1          1          1          1      0.500000  ",
    );
    assert.equal(statText([]).split("\n").length, 2);
  });

  test("/explain has the upstream's sections and options", () => {
    const recorded = readFileSync(join(exporterFixtures, "pg_exporter-explain-head.txt"), "utf8");
    const sections = (text: string): readonly string[] => text.match(/^# [A-Z]+$/gm) ?? [];
    const options = (text: string): readonly string[] => text.match(/^# {7}[A-Z]\w+(?= {2,})/gm) ?? [];
    const text = explainText(collectorsOf(cluster, "pg1", schedule).slice(0, 1), {
      source: "rolecall.yaml",
      noteOf: () => null,
    });
    assert.deepEqual(sections(text), sections(recorded).slice(0, 3));
    assert.deepEqual(options(text), options(recorded).slice(0, 7));
    for (const line of [
      "#       TTL        1",
      "#       Timeout    2.5s",
      "#       Fatal      true",
      "#       Source     rolecall.yaml",
    ])
      assert.ok(text.split("\n").includes(line), line);
  });

  test("/explain reports an exporter that disagrees", () => {
    const up = collectorsOf(cluster, "pg1", schedule).filter(({ endpoint }) => endpoint === "up");
    assert.match(explainText(up, { source: "x", noteOf: () => "It disagrees now" }), /It disagrees now/);
  });
});
