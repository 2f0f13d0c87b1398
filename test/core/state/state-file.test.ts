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
import { App } from "../../../src/app/app.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { readSavedState, writeSavedState } from "../../../src/core/state/saved-state.ts";
import { StateFile } from "../../../src/core/state/state-file.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { until } from "../../fake/until.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const cluster = clusterOf({ discover: ["http://seed:8008"] });
let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-state-"));
});
after(() => rmSync(folder, { recursive: true }));

function snapshotOf(state: ClusterState): Parameters<typeof writeSavedState>[1] {
  return { instance: "run", sequence: 1, clusters: [state], index: new Map([["demo", 0]]) };
}

test("names the file in the error if it cannot be written", async () => {
  const file = join(folder, "no", "such", "folder.json");
  await assert.rejects(writeSavedState(file, snapshotOf(new ClusterFixture().cluster)), /ENOENT.*folder\.json/);
});

test("replaces the file with a new draft, never through a planted link", async () => {
  const [file, victim] = [join(folder, "replaced.json"), join(folder, "victim")];
  writeFileSync(victim, "untouched");
  symlinkSync(victim, `${file}.${process.pid}.tmp`);
  await writeSavedState(file, snapshotOf(new ClusterFixture().cluster));
  assert.equal(readFileSync(victim, "utf8"), "untouched");
  assert.deepEqual((await readSavedState(file, [cluster])).problems, []);
});

test("leaves no draft if writing fails", async () => {
  const file = join(folder, "taken");
  mkdirSync(join(file, "x"), { recursive: true });
  await assert.rejects(
    writeSavedState(file, snapshotOf(new ClusterFixture().cluster)),
    /must be a regular file, got a directory/,
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("taken.")),
    [],
  );
});

test("removes the drafts of killed runs, not those of running processes or other files", async () => {
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
  await new StateFile(() => file, silentLogger).removeStaleDrafts();
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

test("combines writes that are requested while one is in progress", async () => {
  const file = join(folder, "piled.json");
  const stateFile = new StateFile(() => file, silentLogger);
  let taken = 0;
  const take = (): ReturnType<typeof snapshotOf> => {
    taken += 1;
    return snapshotOf(new ClusterFixture().cluster);
  };
  for (let time = 0; time < 100; time += 1) {
    void stateFile.write(take);
    if (time === 0) await Promise.resolve();
  }
  await stateFile.flush();
  assert.ok(taken >= 1 && taken <= 2, `${taken}`);
});

test("does nothing without a configured path", async () => {
  const stateFile = new StateFile(() => null, silentLogger);
  assert.deepEqual((await stateFile.read([cluster])).problems, []);
  void stateFile.write(() => assert.fail("there is nothing to write"));
  await stateFile.removeStaleDrafts();
  await stateFile.flush();
});

test("starts with a corrupt file, logs a warning that names it, and removes unfinished drafts", async (context) => {
  const stateFile = join(folder, "corrupt.json");
  const nodes = await openFakeCluster(context, ["pg1"]);
  writeFileSync(stateFile, '{"clusters":{"demo":[{"na');
  writeFileSync(`${stateFile}.99999999.0a1b2c3d.tmp`, "");
  const listen = [listenerOf({ wholeCluster: true })];
  const config = { ...configOf({ clusters: [clusterOf({ discover: [nodes[0]?.api ?? ""] })], listen }), stateFile };
  const lines: string[] = [];
  const app = new App(config, pino({}, { write: (line: string) => void lines.push(line) }));
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const url = `http://127.0.0.1:${app.listeners[0]?.port}/nodes/pg1/primary`;
  await until("a fit answer", async () => (await fetch(url)).status === 200);
  const warned = lines
    .map((line): { level: number; file?: string } => JSON.parse(line))
    .filter(({ file }) => file === stateFile);
  assert.deepEqual(
    warned.map(({ level }) => level),
    [40, 30],
  );
  assert.ok(!existsSync(`${stateFile}.99999999.0a1b2c3d.tmp`));
});
