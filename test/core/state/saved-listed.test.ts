import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { restoreClusters } from "../../../src/core/state/clusters.ts";
import { hasSameSavedState, readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { clusterOf, configOf } from "../../fake/config.ts";
import { ScriptedServers, type ScriptedServer } from "../../fake/scripted-servers.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const file = join(temporaryFolder("listed"), "state.json");
const config = configOf({ clusters: [clusterOf({ nodes: [], discover: ["http://s1:8008", "http://s2:8008"] })] });

function snapshotOf(cluster: ClusterState): Parameters<typeof writeSavedState>[1] {
  return { instance: "run", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };
}

async function restored(): Promise<ClusterState> {
  const [monitored] = restoreClusters(config, await readSavedState(file, config.clusters));
  assert.ok(monitored !== undefined);
  return monitored.cluster;
}

const nat = { pg1: "10.255.255.1", pg2: "10.255.255.2" };
const s1: ScriptedServer = { states: "pg1", holdsLock: true, lists: nat, names: "pg1" };
const s2: ScriptedServer = { states: "pg2", lists: nat, names: "pg1" };

suite("that a listed address has proved itself, in the state file", () => {
  test("outlives a restart", async (context) => {
    const first = new ScriptedServers(context, { discover: ["s1", "s2"], servers: { s1, s2, "10.255.255.2": s2 } });
    const unproved = first.fixture.cluster;
    await first.pass(10_000);
    const proved = first.fixture.cluster;
    assert.deepEqual([unproved.hasListedProof, proved.hasListedProof], [false, true]);
    assert.equal(hasSameSavedState({ ...proved, hasListedProof: false }, proved), false, "it is written at once");
    await writeSavedState(file, snapshotOf(proved));
    const { hasListedProof } = await restored();
    assert.equal(hasListedProof, true);
  });

  for (const hasListedProof of [true, false])
    test(`silent listed addresses: a seed is ${hasListedProof ? "no member's" : "a member's"} address`, async (context) => {
      const next = new ScriptedServers(context, { discover: ["s1", "s2"], servers: { s1, s2 } });
      next.fixture.cluster = { ...next.fixture.cluster, hasListedProof };
      await next.pass(10_000);
      const found = JSON.stringify(next.found());
      if (hasListedProof) assert.doesNotMatch(found, /s[12] fit/);
      else assert.match(found, /s1 fit/);
    });

  test("is not said of a cluster where none has", async (context) => {
    const network = new ScriptedServers(context, { discover: ["s1", "s2"], servers: { s1, s2 } });
    await network.pass(10_000);
    await writeSavedState(file, snapshotOf(network.fixture.cluster));
    assert.equal((await restored()).hasListedProof, false);
  });

  for (const [title, listed, expected] of [
    ["a file of a version before", undefined, false],
    ["entries that cannot be read", [7, null, {}, "other"], false],
    ["no list", "demo", false],
    ["an entry among others", [7, "demo"], true],
  ] as const)
    test(`${title}: ${expected}`, async () => {
      writeFileSync(file, JSON.stringify({ version: 1, clusters: {}, ...(listed === undefined ? {} : { listed }) }));
      assert.equal((await restored()).hasListedProof, expected);
    });

  test("is a section that versions before ignore: the version of the file stays", async (context) => {
    const network = new ScriptedServers(context, { discover: ["s1"], servers: { s1 } });
    await writeSavedState(file, snapshotOf({ ...network.fixture.cluster, hasListedProof: true }));
    const { version, listed } = JSON.parse(readFileSync(file, "utf8"));
    assert.deepEqual([version, listed], [1, ["demo"]]);
  });
});
