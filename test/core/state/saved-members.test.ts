import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import type { Node } from "../../../src/core/cluster/node.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { restoreClusters } from "../../../src/core/state/clusters.ts";
import { readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const cluster = clusterOf({ discover: ["http://seed:8008"] });
let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-members-"));
});
after(() => rmSync(folder, { recursive: true }));

/** The members of the cluster that a file holds. */
async function savedNodes(file: string): Promise<readonly Node[]> {
  return (await readSavedState(file, [cluster])).clusters.get("demo")?.nodes ?? [];
}

/** The members that are read from a file with this text. */
async function membersOf(text: string): Promise<readonly string[]> {
  const file = join(folder, "members.json");
  writeFileSync(file, text);
  return (await savedNodes(file)).map(({ name, api }) => `${name} ${api}`);
}

function snapshotOf(state: ClusterState): Parameters<typeof writeSavedState>[1] {
  return { instance: "run", sequence: 1, clusters: [state], index: new Map([["demo", 0]]) };
}

test("saves discovered members, not fixed nodes", async () => {
  const watched = new ClusterFixture({ nodes: ["db1"], cluster: { discover: ["http://seed:8008"] } });
  const members = [
    { name: "pg1", api_url: "http://pg1:8008/patroni", host: "10.0.0.1", port: 5432 },
    { name: "pg2", api_url: "http://pg2:8008/patroni", host: "fd00::2", port: 5432 },
    { name: "pg3", api_url: "http://pg3:8008/patroni" },
  ];
  watched.document("cluster", { of: "db1", value: { scope: "demo", members } }, 0);
  const file = join(folder, "written.json");
  await writeSavedState(file, snapshotOf(watched.cluster));
  assert.deepEqual(
    (await savedNodes(file)).map(({ name, api, database }) => ({ name, api, database })),
    [
      { name: "pg1", api: "http://pg1:8008", database: { host: "10.0.0.1", port: 5432 } },
      { name: "pg2", api: "http://pg2:8008", database: { host: "fd00::2", port: 5432 } },
      { name: "pg3", api: "http://pg3:8008", database: null },
    ],
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("keeps a restored member that the first member list omits, like any other member that left", async () => {
  assert.deepEqual(
    (
      await membersOf(
        '{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008","proved":true},{"name":"pg2","api":"http://pg2:8008","proved":true}]}}',
      )
    ).length,
    2,
  );
  const [restored] = restoreClusters(
    configOf({ clusters: [cluster] }),
    await readSavedState(join(folder, "members.json"), [cluster]),
  );
  assert.ok(restored !== undefined);
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
  watched.cluster = restored.cluster;
  const list = (atMs: number): void =>
    watched.document("cluster", { of: "pg1", value: { members: [{ name: "pg1", api_url: "http://pg1:8008" }] } }, atMs);
  list(60_000);
  assert.equal(watched.judge("pg2", "liveness", 60_000), "unknown");
  list(25 * 3_600_000);
  assert.equal(watched.judge("pg2", "liveness", 25 * 3_600_000), "no such node");
});

test("saves the incumbent, also of a cluster with fixed nodes, and breaks a tie with it after a restart", async () => {
  const fixed = clusterOf({ nodes: ["pg1", "pg2"].map((name) => nodeOf({ name, api: `http://${name}:8008` })) });
  const policy = { intervalMs: 1_000 };
  const first = new ClusterFixture({ nodes: ["pg1", "pg2"], policy });
  for (const atMs of [0, 1_000]) first.lead("pg1", atMs);
  const file = join(folder, "stood.json");
  await writeSavedState(file, snapshotOf(first.cluster));
  for (const [one, other] of [
    ["pg1", "pg2"],
    ["pg2", "pg1"],
  ] as const) {
    const restarted = new ClusterFixture({ nodes: ["pg1", "pg2"], policy });
    const saved = (await readSavedState(file, [fixed])).clusters.get("demo");
    assert.equal(saved?.incumbent, "pg1");
    const { leadership } = restarted.cluster;
    restarted.cluster = { ...restarted.cluster, leadership: { ...leadership, incumbent: saved.incumbent } };
    restarted.lead(one, 10, { timeline: 1 });
    restarted.lead(other, 20, { timeline: 1 });
    for (const node of [one, other]) restarted.nameLeader(node, node, 30);
    assert.deepEqual(
      [restarted.judge("pg1", "/primary", 40), restarted.judge("pg2", "/primary", 40)],
      ["fit", "superseded"],
    );
  }
  writeFileSync(file, '{"clusters":{},"stood":{"demo":7}}');
  assert.equal((await readSavedState(file, [fixed])).clusters.size, 0);
});

test("restores no member of a cluster without discovery", async () => {
  assert.equal((await membersOf('{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"}]}}')).length, 1);
  assert.equal((await readSavedState(join(folder, "members.json"), [clusterOf({})])).clusters.size, 0);
});

test("restores no member from a file that is absent or holds something else", async () => {
  assert.equal((await readSavedState(join(folder, "absent.json"), [cluster])).clusters.size, 0);
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '{"clusters":[]}',
    '{"clusters":{"demo":{}}}',
    '{"clusters":{"demo":[1,null,{}]}}',
  ]) {
    assert.deepEqual(await membersOf(text), []);
  }
});

test("leaves out entries without a usable name and address", async () => {
  const entries = [
    { name: "a", api: "http://h:99999" },
    { name: "b", api: "http://a b" },
    { name: "c\n", api: "http://h:1" },
    { api: "http://h:1" },
    { name: "pg1", api: "http://h:8008", database: "nonsense" },
  ];
  assert.deepEqual(await membersOf(JSON.stringify({ clusters: { demo: entries } })), ["pg1 http://h:8008"]);
});

test("reads any JSON without throwing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue(),
      async (value) => void (await membersOf(JSON.stringify({ clusters: { demo: value } }))),
    ),
    { numRuns: 50 },
  );
  assert.ok(readFileSync(join(folder, "members.json"), "utf8").startsWith('{"clusters"'));
});

/** The problems of a file with this text. */
async function problems(text: string): Promise<readonly string[]> {
  const file = join(folder, "corrupt.json");
  writeFileSync(file, text);
  return (await readSavedState(file, [cluster])).problems;
}

test("reports a file that cannot be used, or only in part; not one that is absent or complete", async () => {
  const whole = '{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"}]}}';
  assert.deepEqual(await problems(whole), []);
  assert.deepEqual(await problems('{"clusters":{}}'), []);
  for (const text of ["", "{", whole.slice(0, -2), "[]", "null", '{"clusters":[]}', "\u0000\u0000"])
    assert.equal((await problems(text)).length, 1, text);
  for (const demo of [
    "{}",
    '"x"',
    "[1]",
    '[{"name":"pg\\u202e1","api":"http://pg1:8008"}]',
    '[{"name":"pg1","api":"nonsense"}]',
  ])
    assert.match(
      (await problems(`{"clusters":{"demo":${demo}}}`)).join(),
      /^members of cluster demo left out: (1|all)$/,
      demo,
    );
  assert.deepEqual((await readSavedState(join(folder, "absent.json"), [cluster])).problems, []);
  assert.match((await readSavedState(folder, [cluster])).problems.join(), /must be a regular file, got a directory/);
});

test("does not read a file beyond the size limit", async () => {
  const file = join(folder, "huge.json");
  writeFileSync(file, "{");
  truncateSync(file, 64 * 1024 * 1024);
  const saved = await readSavedState(file, [cluster]);
  assert.equal(saved.clusters.size, 0);
  assert.match(saved.problems.join(), /must have at most \d+ bytes/);
});

test("bounds the members that are read and written, and prefers those that answered", async () => {
  const entries = Array.from({ length: 5_000 }, (_, at) => ({ name: `n${at}`, api: `http://n${at}:8008` }));
  assert.equal((await membersOf(JSON.stringify({ clusters: { demo: entries } }))).length, 2_000);
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
  const list = (names: readonly string[], atMs: number): void => {
    const members = names.map((name) => ({ name, api_url: `http://${name}:8008` }));
    watched.document("cluster", { of: "http://seed:8008", value: { scope: "demo", members } }, atMs);
  };
  list(["pg1"], 0);
  watched.lead("pg1", 0);
  list(
    entries.slice(0, 1_500).map(({ name }) => name),
    1,
  );
  const file = join(folder, "bounded.json");
  await writeSavedState(file, snapshotOf(watched.cluster));
  const names = (await savedNodes(file)).map(({ name }) => name);
  // All that a cluster has at most: pg1, and the members of the list.
  assert.equal(names.length, 128);
  assert.equal(names[0], "pg1");
});
