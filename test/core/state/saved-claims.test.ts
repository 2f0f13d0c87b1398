import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { defaultGuards } from "../../../src/core/health/guards.ts";
import { isSameLastClaim } from "../../../src/core/health/evidence/leadership/last-claim.ts";
import { parseClaims } from "../../../src/core/state/saved-claims.ts";
import { restoreClusters } from "../../../src/core/state/clusters.ts";
import { hasSameSavedState, readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { primaryPage } from "../../fake/exporter-page.ts";

const nodes = ["pg1", "pg2"].map((name) =>
  nodeOf({ name, api: `http://${name}:8008`, exporter: `http://${name}:9630` }),
);
const policy = { guards: { ...defaultGuards, surviveMs: 3_600_000 }, viewMaxAgeMs: 11_500, timeoutMs: 2_500 };

/** pg1 leads until 5 s, and is silent from 6 s on. */
function silentLeader(): ClusterFixture {
  const watched = new ClusterFixture({ nodes, policy });
  for (let atMs = 0; atMs <= 5_000; atMs += 1_000) watched.lead("pg1", atMs);
  watched.follow("pg2", 5_000);
  watched.fail("pg1", "timeout", 6_000);
  return watched;
}

/** Another run, whose clock began when the first one's was at 100 s: its exporter works, and pg2 names pg1. */
async function restarted(file: string, boot = "boot"): Promise<ClusterFixture> {
  const watched = new ClusterFixture({ nodes, policy });
  const config = configOf({ clusters: [clusterOf({ nodes })] });
  const saved = await readSavedState(file, config.clusters, { id: boot, offsetMs: 1_100_000 });
  const [monitored] = restoreClusters(config, saved);
  assert.ok(monitored !== undefined);
  watched.cluster = monitored.cluster;
  for (const atMs of [100, 200]) {
    const sent = { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: atMs, sentAtWallMs: atMs } as const;
    watched.record({ ...sent, result: { endpoint: "up", role: "primary" } }, atMs);
    const page = { ...primaryPage, streaming: 1, databaseTimeS: atMs / 1000 };
    watched.record({ ...sent, result: { endpoint: "metrics", page } }, atMs);
  }
  watched.follow("pg2", 200);
  return watched;
}

suite("the claim that stood last in the state file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rolecall-claims-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function write(cluster: ClusterState): Promise<string> {
    const file = join(folder, "state.json");
    const snapshot = { instance: "run", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };
    await writeSavedState(file, snapshot, { boot: { id: "boot", offsetMs: 1_000_000 } });
    return file;
  }

  test("counts after a restart as if its node had answered then, time down included", async () => {
    const file = await write(silentLeader().cluster);
    const watched = await restarted(file);
    assert.equal(watched.judge("pg1", "/primary", 300), "unknown", "its lock is not sure to last any more");
    watched.nameLeader("pg1", "pg2", 400);
    assert.equal(watched.judge("pg1", "/primary", 500), "degraded");
    assert.equal(watched.cluster.leadership.savedClaim?.atMs, -95_000);
    watched.lead("pg2", 600);
    watched.follow("pg2", 700);
    watched.nameLeader("pg1", "pg2", 800);
    assert.equal(watched.judge("pg1", "/primary", 900), "unknown", "another claim stood");
  });
  test("does not count on another boot", async () => {
    const watched = await restarted(await write(silentLeader().cluster), "another boot");
    watched.nameLeader("pg1", "pg2", 400);
    assert.equal(watched.judge("pg1", "/primary", 500), "unknown");
  });
  test("is not kept once its node has denied it", async () => {
    const leader = silentLeader();
    leader.follow("pg1", 7_000);
    const watched = await restarted(await write(leader.cluster));
    watched.nameLeader("pg1", "pg2", 400);
    assert.equal(watched.judge("pg1", "/primary", 500), "unknown");
  });
  test("causes a write when its node falls silent or denies it, not with each answer", () => {
    const watched = new ClusterFixture({ nodes, policy });
    watched.lead("pg1", 0);
    watched.lead("pg1", 1_000);
    const leading = watched.cluster;
    watched.lead("pg1", 2_000);
    assert.equal(hasSameSavedState(leading, watched.cluster), true);
    const answering = watched.cluster;
    watched.fail("pg1", "timeout", 3_000);
    const silent = watched.cluster;
    assert.equal(hasSameSavedState(answering, silent), false);
    watched.follow("pg1", 4_000);
    assert.equal(hasSameSavedState(silent, watched.cluster), false);
  });
  test("causes a write when another node, or the same at another address, has the last claim", () => {
    const watched = new ClusterFixture({ nodes, policy });
    const empty = watched.cluster;
    assert.equal(hasSameSavedState(empty, empty), true);
    watched.lead("pg1", 0);
    const first = watched.cluster;
    assert.equal(isSameLastClaim(empty, first), false);
    assert.equal(isSameLastClaim(first, empty), false);
    watched.follow("pg1", 1_000);
    watched.lead("pg2", 1_000);
    assert.equal(isSameLastClaim(first, watched.cluster), false);
    const moved = first.nodes.map((one) => ({ ...one, node: { ...one.node, api: "http://elsewhere:8008" } }));
    assert.equal(isSameLastClaim(first, { ...first, nodes: moved }), false);
  });
  test("is left out if it cannot be read", () => {
    const entry = { node: "pg1", api: "http://pg1:8008", system: null, role: "primary", boot: "b", at_boot_ms: 1 };
    const without = (key: string): object => ({ ...entry, [key]: null });
    const broken = [null, ...["node", "api", "role", "boot", "at_boot_ms"].map(without)];
    const clock = { id: "b", offsetMs: 10 };
    assert.equal(parseClaims(Object.fromEntries(broken.map((value, at) => [String(at), value])), clock).size, 0);
    const claim = { node: "pg1", api: "http://pg1:8008", system: null, atMs: -9 };
    assert.deepEqual([...parseClaims({ demo: entry }, clock)], [["demo", claim]]);
  });
});
