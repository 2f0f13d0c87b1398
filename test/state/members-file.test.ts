import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import type { ClusterState } from "../../src/cluster/snapshot.ts";
import { readMembers, writeMembers } from "../../src/state/members-file.ts";
import { clusterOf, nodeOf } from "../fake/config.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";

const cluster = clusterOf({ discover: ["http://seed:8008"] });
let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-members-"));
});
after(() => rmSync(folder, { recursive: true }));

function remembered(text: string): readonly string[] {
  const file = join(folder, "members.json");
  writeFileSync(file, text);
  return (readMembers(file, [cluster]).get("demo")?.nodes ?? []).map(({ node }) => `${node.name} ${node.api}`);
}

function snapshotOf(state: ClusterState): Parameters<typeof writeMembers>[1] {
  return { instance: "run", sequence: 1, clusters: [state], index: new Map([["demo", 0]]) };
}

test("members that were discovered are remembered, fixed nodes are not", async () => {
  const watched = new ClusterFixture({ nodes: ["db1"], cluster: { discover: ["http://seed:8008"] } });
  const members = [
    { name: "pg1", api_url: "http://pg1:8008/patroni", host: "10.0.0.1", port: 5432 },
    { name: "pg2", api_url: "http://pg2:8008/patroni", host: "fd00::2", port: 5432 },
    { name: "pg3", api_url: "http://pg3:8008/patroni" },
  ];
  watched.document("cluster", { of: "db1", value: { scope: "demo", members } }, 0);
  const file = join(folder, "written.json");
  await writeMembers(file, snapshotOf(watched.cluster));
  const nodes = readMembers(file, [cluster]).get("demo")?.nodes ?? [];
  assert.deepEqual(
    nodes.map(({ node, report }) => ({ name: node.name, api: node.api, database: node.database, report })),
    [
      { name: "pg1", api: "http://pg1:8008", database: { host: "10.0.0.1", port: 5432 }, report: null },
      { name: "pg2", api: "http://pg2:8008", database: { host: "fd00::2", port: 5432 }, report: null },
      { name: "pg3", api: "http://pg3:8008", database: null, report: null },
    ],
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("a remembered member that the first list lacks stays, as any other that left does", () => {
  assert.deepEqual(
    remembered('{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"},{"name":"pg2","api":"http://pg2:8008"}]}}')
      .length,
    2,
  );
  const part = readMembers(join(folder, "members.json"), [cluster]).get("demo");
  assert.ok(part !== undefined);
  const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
  watched.cluster = part;
  const list = (atMs: number): void =>
    watched.document("cluster", { of: "pg1", value: { members: [{ name: "pg1", api_url: "http://pg1:8008" }] } }, atMs);
  list(60_000);
  assert.equal(watched.judge("pg2", "liveness", 60_000), "unknown");
  list(25 * 3_600_000);
  assert.equal(watched.judge("pg2", "liveness", 25 * 3_600_000), "no such node");
});

test("whose claim stood last is remembered, of a cluster with fixed nodes too, and settles a tie after a restart", async () => {
  const fixed = clusterOf({ nodes: ["pg1", "pg2"].map((name) => nodeOf({ name, api: `http://${name}:8008` })) });
  const settings = { intervalMs: 1_000 };
  const first = new ClusterFixture({ nodes: ["pg1", "pg2"], policy: settings });
  for (const atMs of [0, 1_000]) first.lead("pg1", atMs);
  const file = join(folder, "stood.json");
  await writeMembers(file, snapshotOf(first.cluster));
  for (const [one, other] of [
    ["pg1", "pg2"],
    ["pg2", "pg1"],
  ] as const) {
    const restarted = new ClusterFixture({ nodes: ["pg1", "pg2"], policy: settings });
    const part = readMembers(file, [fixed]).get("demo");
    assert.equal(part?.leadership.incumbent, "pg1");
    restarted.cluster = { ...restarted.cluster, leadership: part.leadership };
    restarted.lead(one, 10, { timeline: 1 });
    restarted.lead(other, 20, { timeline: 1 });
    for (const node of [one, other]) restarted.nameLeader(node, node, 30);
    assert.deepEqual(
      [restarted.judge("pg1", "/primary", 40), restarted.judge("pg2", "/primary", 40)],
      ["fit", "superseded"],
    );
  }
  writeFileSync(file, '{"clusters":{},"stood":{"demo":7}}');
  assert.equal(readMembers(file, [fixed]).size, 0);
});

test("a cluster that discovers nothing remembers nobody", () => {
  assert.equal(remembered('{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"}]}}').length, 1);
  assert.equal(readMembers(join(folder, "members.json"), [clusterOf({})]).size, 0);
});

test("a file that is absent, or holds anything else, remembers nobody", () => {
  assert.equal(readMembers(join(folder, "absent.json"), [cluster]).size, 0);
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '{"clusters":[]}',
    '{"clusters":{"demo":{}}}',
    '{"clusters":{"demo":[1,null,{}]}}',
  ]) {
    assert.deepEqual(remembered(text), []);
  }
});

test("an entry that nobody can be asked at is left out", () => {
  const entries = [
    { name: "a", api: "http://h:99999" },
    { name: "b", api: "http://a b" },
    { name: "c\n", api: "http://h:1" },
    { api: "http://h:1" },
    { name: "pg1", api: "http://h:8008", database: "nonsense" },
  ];
  assert.deepEqual(remembered(JSON.stringify({ clusters: { demo: entries } })), ["pg1 http://h:8008"]);
});

test("whatever JSON the file holds is read", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => void remembered(JSON.stringify({ clusters: { demo: value } }))),
    { numRuns: 50 },
  );
  assert.ok(readFileSync(join(folder, "members.json"), "utf8").startsWith('{"clusters"'));
});

/** What is warned of when a file with this text is read. */
function problems(text: string): readonly string[] {
  const file = join(folder, "corrupt.json");
  writeFileSync(file, text);
  const found: string[] = [];
  readMembers(file, [cluster], (problem) => found.push(problem));
  return found;
}

test("a file that cannot be used, or not all of it, is warned of; one that is absent or whole is not", () => {
  const whole = '{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"}]}}';
  assert.deepEqual(problems(whole), []);
  assert.deepEqual(problems('{"clusters":{}}'), []);
  for (const text of ["", "{", whole.slice(0, -2), "[]", "null", '{"clusters":[]}', "\u0000\u0000"])
    assert.equal(problems(text).length, 1, text);
  for (const demo of [
    "{}",
    '"x"',
    "[1]",
    '[{"name":"pg\\u202e1","api":"http://pg1:8008"}]',
    '[{"name":"pg1","api":"nonsense"}]',
  ])
    assert.match(problems(`{"clusters":{"demo":${demo}}}`).join(), /^members of cluster demo left out: (1|all)$/, demo);
  const found: string[] = [];
  readMembers(join(folder, "absent.json"), [cluster], (problem) => found.push(problem));
  assert.equal(found.length, 0);
  readMembers(folder, [cluster], (problem) => found.push(problem));
  assert.match(found.join(), /EISDIR/);
});

test("a file of unbounded size is not read", () => {
  const file = join(folder, "huge.json");
  writeFileSync(file, "{");
  truncateSync(file, 64 * 1024 * 1024);
  const found: string[] = [];
  assert.equal(readMembers(file, [cluster], (problem) => found.push(problem)).size, 0);
  assert.match(found.join(), /must be at most \d+ bytes/);
});

test("the list that is read and written is bounded, and those that answered come before those that never did", async () => {
  const entries = Array.from({ length: 5_000 }, (_, at) => ({ name: `n${at}`, api: `http://n${at}:8008` }));
  assert.equal(remembered(JSON.stringify({ clusters: { demo: entries } })).length, 2_000);
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
  await writeMembers(file, snapshotOf(watched.cluster));
  const names =
    readMembers(file, [cluster])
      .get("demo")
      ?.nodes.map(({ node }) => node.name) ?? [];
  assert.equal(names.length, 501);
  assert.equal(names[0], "pg1");
});
