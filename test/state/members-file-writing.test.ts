import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pino } from "pino";
import type { ClusterState } from "../../src/cluster/snapshot.ts";
import { MembersFile, readMembers, writeMembers } from "../../src/state/members-file.ts";
import { clusterOf } from "../fake/config.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";

const cluster = clusterOf({ discover: ["http://seed:8008"] });
let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-members-"));
});
after(() => rmSync(folder, { recursive: true }));

function snapshotOf(state: ClusterState): Parameters<typeof writeMembers>[1] {
  return { instance: "run", sequence: 1, clusters: [state], index: new Map([["demo", 0]]) };
}

test("a file that cannot be written is an error that names it", async () => {
  const file = join(folder, "no", "such", "folder.json");
  await assert.rejects(writeMembers(file, snapshotOf(new ClusterFixture().cluster)), /ENOENT.*folder\.json/);
});

test("a file is replaced whole by a draft of its own, which nobody can plant", async () => {
  const [file, victim] = [join(folder, "replaced.json"), join(folder, "victim")];
  writeFileSync(victim, "untouched");
  symlinkSync(victim, `${file}.${process.pid}.tmp`);
  await writeMembers(file, snapshotOf(new ClusterFixture().cluster));
  assert.equal(readFileSync(victim, "utf8"), "untouched");
  assert.deepEqual(problemsOf(file), []);
});

function problemsOf(file: string): readonly string[] {
  const found: string[] = [];
  readMembers(file, [cluster], (problem) => found.push(problem));
  return found;
}

test("a writing that fails leaves no draft", async () => {
  const file = join(folder, "taken");
  mkdirSync(join(file, "x"), { recursive: true });
  await assert.rejects(writeMembers(file, snapshotOf(new ClusterFixture().cluster)), /EISDIR|ENOTEMPTY|EEXIST/);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("taken.")),
    [],
  );
});

test("drafts that killed runs left are removed at the start, those of running processes and other files are not", async () => {
  const file = join(folder, "swept.json");
  // No process has this number: Linux hands out less than 2^22.
  const gone = [`${file}.99999999.tmp`, `${file}.99999999.0a1b2c3d.tmp`, `${file}.${process.pid}.0a1b2c3d.tmp`];
  const kept = [
    `${file}.${process.ppid}.tmp`,
    `${file}.tmp`,
    `${file}.x.tmp`,
    `${file}.99999999.tmp.bak`,
    join(folder, "other.json.99999999.tmp"),
  ];
  for (const name of [...gone, ...kept]) writeFileSync(name, "");
  await new MembersFile(pino({ enabled: false })).sweep(file);
  assert.deepEqual(
    gone.filter((name) => existsSync(name)),
    [],
  );
  assert.deepEqual(
    kept.filter((name) => !existsSync(name)),
    [],
  );
  for (const name of kept) rmSync(name);
});

test("writings that pile up while one is under way become one", async () => {
  const file = join(folder, "piled.json");
  const members = new MembersFile(pino({ enabled: false }));
  let taken = 0;
  const take = (): ReturnType<typeof snapshotOf> => {
    taken += 1;
    return snapshotOf(new ClusterFixture().cluster);
  };
  for (let time = 0; time < 100; time += 1) {
    members.write(file, take);
    if (time === 0) await Promise.resolve();
  }
  await members.written;
  assert.ok(taken >= 1 && taken <= 2, `${taken}`);
});
