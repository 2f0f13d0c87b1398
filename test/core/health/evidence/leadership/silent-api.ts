import type { ExporterPage } from "../../../../../src/core/cluster/exporter/exporter-report.ts";
import { defaultGuards } from "../../../../../src/core/health/guards.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { primaryPage } from "../../../../fake/exporter-page.ts";

const page: ExporterPage = { ...primaryPage, streaming: 2 };

/** pg1 leads until 5 s. Then its API is silent while its exporter still answers until `exporterUntilMs`. */
export function silentApi(exporterUntilMs: number, surviveMs = 20_000): ClusterFixture {
  const nodes = ["pg1", "pg2", "pg3"].map((name) => ({
    name,
    api: `http://${name}:8008`,
    exporter: `http://${name}:9630`,
  }));
  const watched = new ClusterFixture({ nodes, policy: { guards: { ...defaultGuards, surviveMs } } });
  for (let atMs = 0; atMs <= 20_000; atMs += 1_000) {
    if (atMs <= 5_000) watched.lead("pg1", atMs);
    else watched.fail("pg1", "timeout", atMs);
    watched.follow("pg2", atMs);
    if (atMs > exporterUntilMs) continue;
    const sent = { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: atMs, sentAtWallMs: atMs } as const;
    watched.record({ ...sent, result: { endpoint: "up", role: "primary" } }, atMs);
    watched.record({ ...sent, result: { endpoint: "metrics", page: { ...page, databaseTimeS: atMs / 1000 } } }, atMs);
  }
  return watched;
}
