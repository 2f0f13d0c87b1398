import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { incidentPieces } from "../../../../src/core/events/incident/incident-file.ts";
import { incidentSubject } from "../../../../src/core/events/incident/incident-subject.ts";
import { readIncidentFile } from "../../../../src/features/replay/file/incident-file.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { runJson, runText } from "../../../fake/command-line.ts";
import { reportOf } from "../../../fake/node-documents.ts";
import { policyOf } from "../../../core/health/arbitraries.ts";
import { historyConfig, openHistory, temporaryDirectory } from "../store/history-fixture.ts";

const policy = { ...policyOf({ attachWindowMs: 12_000 }), zoneTag: "zone" };
const members = [
  { name: "pg1", api: "http://pg1:8008", database: { host: "10.0.0.1", port: 5432 }, zone: "a" },
  { name: "pg2", api: "http://pg2:8008", member: "node-2" },
  { name: "pg3", api: null, exporter: "http://pg3:9630", archiveFed: true },
] as const;

/** The answer of a node, `atMs` after the beginning of the history. */
function answerOf(node: string, cluster = "demo"): (nowMs: number) => ProbeOutcome {
  const report = reportOf(node, { timeline: 3 });
  return (nowMs) => {
    const result = { report, hasLock: node === "pg1" };
    return { kind: "status", cluster, node, sentAtMs: nowMs - 7, sentAtWallMs: 0, result };
  };
}

interface Written {
  readonly directory: string;
  /** When the first observation was recorded, in ms since the epoch. */
  readonly wallMs: number;
  /** The file that the process would have served. */
  readonly served: string;
}

/** Writes a history as a process would that observed the nodes at intervals of a second. */
async function writeHistory(context: TestContext, answers: readonly ReturnType<typeof answerOf>[]): Promise<Written> {
  const directory = temporaryDirectory(context);
  const { store, clock } = await openHistory(context, historyConfig(directory));
  const { nowMs, wallMs } = clock;
  const fixture = new ClusterFixture({ nodes: members });
  // The first file begins before any node has answered.
  store.addSubject(fixture.cluster, policy, wallMs);
  const recorded = answers.map((answer, at) => {
    const atMs = nowMs + at * 1_000;
    return { atMs, atWallMs: wallMs + at * 1_000, outcome: answer(atMs) };
  });
  for (const { outcome, atMs, atWallMs } of recorded) store.addOutcome(outcome, atMs, atWallMs);
  await store.stop();
  fixture.answer("pg1", { hasLock: true }, nowMs);
  const subject = incidentSubject(fixture.cluster, policy);
  const incident = { subject, recorded, instantMs: wallMs, accused: new Map(), isComplete: true };
  return { directory, wallMs, served: [...incidentPieces(incident)].join("") };
}

/** Removes the lines about clusters, as an earlier version would not have written them. */
function forgetSubjects(directory: string): void {
  for (const name of readdirSync(directory).filter((file) => file.startsWith("evidence"))) {
    const lines = readFileSync(join(directory, name), "utf8").split("\n");
    writeFileSync(join(directory, name), lines.filter((line) => !line.includes('"k":"cluster"')).join("\n"));
  }
}

function argvOf({ directory, wallMs }: Written, ...more: readonly string[]): readonly string[] {
  const around = new Date(wallMs).toISOString();
  const save = more.includes("--save") ? [] : ["--save", "-"];
  return ["incident", "--around", around, "--directory", directory, ...save, ...more];
}

test("incident --directory makes the file that the process would have served", async (context) => {
  const written = await writeHistory(context, [answerOf("pg1"), answerOf("pg2"), answerOf("pg1")]);
  const { code, out, err } = await runText(argvOf(written));
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(out, written.served);
  const { nodes, policy: settings } = readIncidentFile(parse(out), "night.yaml");
  assert.deepEqual(
    nodes.map(({ name, member, isArchiveFed, zone }) => [name, member, isArchiveFed, zone]),
    [
      ["pg1", "pg1", false, "a"],
      ["pg2", "node-2", false, null],
      ["pg3", "pg3", true, null],
    ],
  );
  assert.deepEqual([settings.guards.attachWindowMs, settings.zoneTag], [12_000, "zone"]);
  const saved = join(written.directory, "..", "night.yaml");
  assert.equal((await runText(argvOf(written, "--save", saved))).code, 0);
  assert.equal(readFileSync(saved, "utf8"), out);
  const replayed = await runText(["incident", "replay", saved]);
  assert.deepEqual([replayed.code, replayed.err], [0, ""]);
});

test("a history without the nodes and settings gives the nodes that were probed, and a warning", async (context) => {
  const written = await writeHistory(context, [answerOf("pg1"), answerOf("pg2")]);
  forgetSubjects(written.directory);
  const { exit_code, diagnostics, data } = await runJson(argvOf(written));
  assert.deepEqual([exit_code, diagnostics.map(({ rule_id }) => rule_id)], [0, ["RC192"]]);
  const { file } = data as { file: string };
  const { nodes, moments } = readIncidentFile(parse(file), "night.yaml");
  assert.deepEqual([nodes.map(({ name }) => name), moments.length], [["pg1", "pg2"], 2]);
});

test("a history of a version without zones gives nodes without zones", async (context) => {
  const written = await writeHistory(context, [answerOf("pg1")]);
  for (const name of readdirSync(written.directory).filter((file) => file.startsWith("evidence"))) {
    const text = readFileSync(join(written.directory, name), "utf8");
    assert.match(text, /"zone":"a"/);
    writeFileSync(join(written.directory, name), text.replaceAll(/,"zone":("a"|null)|"zone_tag":"zone",/g, ""));
  }
  const { out } = await runText(argvOf(written));
  const { nodes, policy: settings } = readIncidentFile(parse(out), "night.yaml");
  assert.deepEqual([nodes.map(({ zone }) => zone), settings.zoneTag], [[null, null, null], undefined]);
});

test("a node that joins after the description of the cluster is in the file", async (context) => {
  const written = await writeHistory(context, [answerOf("pg1"), answerOf("pg4")]);
  const { out } = await runText(argvOf(written));
  const names = readIncidentFile(parse(out), "night.yaml").nodes.map(({ name }) => name);
  assert.deepEqual(names, ["pg1", "pg2", "pg3", "pg4"]);
});

test("incident --directory names the clusters to choose from, and what is kept", async (context) => {
  const written = await writeHistory(context, [answerOf("pg1"), answerOf("a", "billing")]);
  const several = await runText(argvOf(written));
  assert.equal(several.code, 2);
  assert.match(several.err, /RC001 {2}--cluster must be one of billing, demo, got nothing/);
  const billing = await runText(argvOf(written, "--cluster", "billing"));
  assert.equal(billing.code, 0);
  assert.match(billing.out, /^name: cluster billing around /m);
  const other = await runText(argvOf(written, "--cluster", "other"));
  assert.deepEqual([other.code, other.out], [1, ""]);
  assert.match(other.err, /RC090 {2}Nothing is kept of other around .*: evidence is kept since /);
  const earlier = new Date(written.wallMs - 3_600_000).toISOString();
  const none = await runText(["incident", "--around", earlier, "--directory", written.directory]);
  assert.deepEqual([none.code, none.out], [1, ""]);
  assert.match(none.err, /RC090 {2}Nothing is kept around .*: evidence is kept since /);
});

test("incident --directory refuses what is not the directory of a history", async (context) => {
  const directory = temporaryDirectory(context);
  const refused = async (...argv: readonly string[]): Promise<string> => {
    const { code, err } = await runText(["incident", "--directory", directory, ...argv]);
    assert.equal(code, 2);
    return err;
  };
  assert.match(await refused(), /RC006 {2}Cannot read --directory: ENOENT/);
  mkdirSync(directory);
  assert.match(await refused(), /RC006 {2}Cannot read --directory: .* got one without history files/);
  assert.match(await refused("replay", "night.yaml"), /RC001 {2}--directory cannot be used with incident replay/);
  assert.equal(existsSync(join(directory, "lock")), false);
});
