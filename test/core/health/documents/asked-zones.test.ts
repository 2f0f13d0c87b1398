import assert from "node:assert/strict";
import { test } from "node:test";
import { askedChecks } from "../../../../src/core/health/rules/asked-checks.ts";
import { nodeOverview } from "../../../../src/core/health/documents/node-overview.ts";
import { situationOf } from "../../../../src/core/health/documents/situation.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { clusterMetrics } from "../../../../src/core/metrics/nodes/cluster-metrics.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const zones = { pg1: "a", pg2: "a", pg3: "b" };
const limit = { route: "replica", lag_bytes: 1_024, lag_ms: null, keep: 0, fallback_primary: false } as const;
const source = { source: "push", of: null, requested_ms_ago: null, requested_for_ms: null } as const;
const asked = askedChecks([
  { ...limit, ...source, zones: ["b"] },
  { ...limit, ...source, zones: ["b", "a"] },
  { ...limit, ...source },
]);

/** Who gets clients of each check, in words and as a metric. pg2 and pg3 follow pg1. */
function shown(local: "fit" | "lagging"): { readonly words: readonly string[]; readonly members: readonly string[] } {
  const nodes = Object.entries(zones).map(([name, zone]) => ({ name, api: `http://${name}:8008`, zone }));
  const fixture = new ClusterFixture({ nodes });
  fixture.lead("pg1", 0, { xlog: { location: 9_000 } });
  fixture.follow("pg2", 0, { xlog: { received_location: 9_000, replayed_location: 9_000 } });
  const replayed = local === "fit" ? 9_000 : 1_000;
  fixture.follow("pg3", 0, { xlog: { received_location: 9_000, replayed_location: replayed } });
  const { cluster, policy } = fixture;
  const view = viewAt(cluster, policy, 100);
  const overviews = view.cluster.nodes.map((node) => nodeOverview(view, node, asked));
  const { clients } = situationOf(view, { nodes: overviews, asked, wallMs: 0 });
  const snapshot = { instance: "i", sequence: 1, clusters: [cluster], index: new Map() };
  const metrics = clusterMetrics({
    snapshot: () => snapshot,
    policy: () => policy,
    now: () => 100,
    wall: () => 0,
    asked: () => asked,
    found: () => [],
  });
  const samples = metrics.find(({ name }) => name === "rolecall_pool_members")?.samples() ?? [];
  return {
    words: clients.split("; ").slice(2),
    members: [...samples].map((line) => line.trim().split(" ").at(-1) ?? ""),
  };
}

test("of a check with zones those nodes count that get clients", () => {
  assert.deepEqual(shown("fit"), {
    words: ["/replica?lag=1kB&zone=b: 1 of 2", "/replica?lag=1kB&zone=b,a: 2 of 2", "/replica?lag=1kB: 2 of 2"],
    members: ["1", "2", "2"],
  });
  assert.deepEqual(shown("lagging"), {
    words: ["/replica?lag=1kB&zone=b: 1 of 2", "/replica?lag=1kB&zone=b,a: 1 of 2", "/replica?lag=1kB: 1 of 2"],
    members: ["1", "1", "1"],
  });
});
