import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { nodeNamed } from "../../../src/core/cluster/lookup.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { withSavedNames } from "../../../src/core/state/saved-names.ts";
import { hasSameSavedState, readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { primaryPage } from "../../fake/exporter-page.ts";

const nodes = ["pg1", "pg2"].map((name) => ({ name, api: null, exporter: `http://${name}:9187` }));

/** pg1's exporter lists a standby of a name. */
function listing(name: string): ClusterFixture {
  const watched = new ClusterFixture({ nodes });
  const senders = [{ name, address: null, isStreaming: true, replayed: 5_000 }];
  const page = { ...primaryPage, family: "postgres_exporter" as const, senders };
  const sent = { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: 0, sentAtWallMs: 0 } as const;
  watched.record({ ...sent, result: { endpoint: "metrics", page } }, 0);
  return watched;
}

function snapshotOf(cluster: ClusterState): Parameters<typeof writeSavedState>[1] {
  return { instance: "run", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };
}

/** Whether pg2 counts as named in another run that starts from the file. */
async function isNamedAfter(file: string, configured = nodes): Promise<boolean | undefined> {
  const { cluster, policy } = new ClusterFixture({ nodes: configured });
  const [monitored] = withSavedNames([{ cluster, policy }], (await readSavedState(file, [])).names);
  return monitored === undefined ? undefined : nodeNamed(monitored.cluster, "pg2")?.isNamed;
}

suite("nodes that a sender list has named, in the state file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rolecall-names-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  test("outlive a restart, at the same exporter alone", async () => {
    const file = join(folder, "state.json");
    const unnamed = new ClusterFixture({ nodes });
    const named = listing("pg2");
    assert.ok(!hasSameSavedState(unnamed.cluster, named.cluster), "it is written at once");
    await writeSavedState(file, snapshotOf(named.cluster));
    assert.equal(await isNamedAfter(file), true);
    const moved = nodes.map((node) => ({ ...node, exporter: `http://other-${node.name}:9187` }));
    assert.equal(await isNamedAfter(file, moved), false);
    const managed = nodes.map((node) => ({ ...node, api: `http://${node.name}:8008` }));
    assert.equal(await isNamedAfter(file, managed as unknown as typeof nodes), false);
  });

  test("are none where a list names somebody else", async () => {
    const file = join(folder, "nobody.json");
    await writeSavedState(file, snapshotOf(listing("walreceiver").cluster));
    assert.equal(await isNamedAfter(file), false);
  });

  test("entries that cannot be read are left out", async () => {
    const file = join(folder, "damaged.json");
    const named = [7, null, { cluster: "demo" }, { cluster: "demo", node: "pg2", exporter: 3 }];
    writeFileSync(file, JSON.stringify({ clusters: {}, named }));
    assert.equal(await isNamedAfter(file), false);
    writeFileSync(file, JSON.stringify({ clusters: {}, named: "pg2" }));
    assert.equal(await isNamedAfter(file), false);
  });
});
