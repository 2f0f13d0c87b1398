import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { ExporterRole } from "../../../../../src/core/cluster/exporter/exporter-report.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { disagreement } from "../../../../../src/core/health/evidence/leadership/exporter-disagreement.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** What is shown of a replica whose API answered at `apiAtMs` and its exporter at `upAtMs`, at the instant 6 s. */
function shown(
  role: ExporterRole,
  { apiAtMs = 6_000, upAtMs = 6_000, failures = 0 }: { apiAtMs?: number; upAtMs?: number; failures?: number } = {},
): string | null {
  const nodes = ["pg1", "pg2"].map((name) => ({ name, api: `http://${name}:8008`, exporter: `http://${name}:9630` }));
  const watched = new ClusterFixture({ nodes });
  watched.lead("pg1", 6_000);
  watched.follow("pg2", apiAtMs);
  const sent = { kind: "exporter", cluster: "demo", node: "pg2", sentAtMs: upAtMs, sentAtWallMs: upAtMs } as const;
  watched.record({ ...sent, result: { endpoint: "up", role } }, upAtMs);
  for (let at = 1; at <= failures; at += 1) watched.fail("pg2", "refused", apiAtMs + at * 1_000);
  const observation = nodeNamed(watched.cluster, "pg2");
  assert.ok(observation);
  const found = disagreement(viewAt(watched.cluster, watched.policy, 6_000), observation);
  return found === null ? null : `${found.node}, ${found.exporter}`;
}

test("roles are compared", () => {
  assert.equal(shown("replica"), null);
  assert.equal(shown("primary"), "replica, primary");
  assert.equal(shown("down"), "replica, down");
});

test("an answer that is too old, of the API or of the exporter, is compared with nothing", () => {
  assert.equal(shown("primary", { upAtMs: 501 }), "replica, primary");
  assert.equal(shown("primary", { upAtMs: 500 }), null);
  assert.equal(shown("primary", { apiAtMs: 501 }), "replica, primary");
  assert.equal(shown("primary", { apiAtMs: 500 }), null);
});

test("a node that is down is compared with nothing", () => {
  assert.equal(shown("primary", { apiAtMs: 2_000, failures: 2 }), "replica, primary");
  assert.equal(shown("primary", { apiAtMs: 2_000, failures: 3 }), null);
});
