import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { runJson, runText } from "../../fake/command-line.ts";
import { RehearsalFixture, type RehearsalFaults } from "../../fake/rehearsal-fixture.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { assertResultDocument } from "../../fake/result-document.ts";
import { until } from "../../fake/until.ts";

async function fixtureDuring(context: TestContext, faults: RehearsalFaults = {}): Promise<RehearsalFixture> {
  const fixture = await RehearsalFixture.start(faults);
  context.after(() => fixture.stop());
  return fixture;
}

function commandFor(fixture: RehearsalFixture, more: readonly string[] = ["--yes"]): readonly string[] {
  return ["rehearse", "--server", fixture.url, "--dsn", fixture.dsn, "--cluster", "demo", ...more];
}

describe("a rehearsal", { concurrency: true }, () => {
  const kill = ["--yes", "--kill", "--kill-command", "exit 3", "--deadline", "100ms"];

  test("with --kill needs the scope of the cluster", async (context) => {
    const fixture = await fixtureDuring(context);
    const { code, err } = await runText(commandFor(fixture, [...kill, "--lab", "prod"]));
    assert.equal(code, 2);
    assert.match(err, /--lab must be the scope of demo, got "prod": nothing was killed/);
  });

  test("with --kill reports a command that fails, and shows it as evidence", async (context) => {
    const fixture = await fixtureDuring(context);
    const { exit_code: code, diagnostics, evidence } = await runJson(commandFor(fixture, [...kill, "--lab", "demo"]));
    assert.equal(code, 1);
    assert.match(diagnostics[0]?.message ?? "", /the kill command ended with 3/);
    assert.deepEqual(evidence[0]?.command.slice(1), ["ROLECALL_NODE=pg1", "/bin/sh", "-c", "exit 3"]);
    assert.equal(fixture.schemas.size, 0);
  });

  test("measures the outage, and removes its schema", async (context) => {
    const fixture = await fixtureDuring(context);
    const node = ["--node-dsn", `pg2=${fixture.dsn}`];
    const { code, out, err } = await runText(commandFor(fixture, ["--yes", "--max-outage", "10s", ...node]));
    assert.equal(code, 0, err);
    assert.match(out, /switchover +from pg1 \(timeline 1\) to one of pg2 \(lag 0B\)/);
    assert.match(out, /demo: switchover from pg1 to pg2: no writes for 0\.\d\d s/);
    for (const phase of [
      "demoted: pg1",
      "refuses pg1",
      "promoted: pg2",
      "rolecall accepts pg2 as a primary",
      "balancer switched",
    ])
      assert.match(out, new RegExp(`\\d ms .*${phase}`));
    assert.match(out, /10\.0\.0\.2:5432 \(pg2\), timeline 2: \d+ acknowledged, backends 42/);
    assert.match(out, /, 0 lost\./);
    assert.deepEqual(fixture.calls, ["POST /clusters/demo/switchover"]);
    assert.equal(fixture.schemas.size, 0);
  });

  test("fails if the outage is longer than --max-outage, writes are lost or the switchover fails", async (context) => {
    const lossy = await fixtureDuring(context, { losing: [1, 2] });
    const refused = await fixtureDuring(context, { switchoverStatus: 503 });
    const [first, second] = await Promise.all([
      runJson(commandFor(lossy, ["--yes", "--max-outage", "1ms"])),
      runJson(commandFor(refused)),
    ]);
    const rules = ({ diagnostics }: typeof first): readonly string[] =>
      diagnostics.flatMap(({ rule_id: id }) => (id === "RC146" ? [] : [id]));
    assert.deepEqual([first.exit_code, rules(first)], [1, ["RC141", "RC143"]]);
    assert.deepEqual((first.data as { writes: { lost_numbers: unknown } }).writes.lost_numbers, [1, 2]);
    assert.deepEqual([second.exit_code, rules(second)], [1, ["RC060"]]);
    assert.match(second.diagnostics[0]?.message ?? "", /answered 503: no good candidate/);
    assert.deepEqual([lossy.schemas.size, refused.schemas.size], [0, 0]);
  });

  test("removes its schema after Ctrl-C, with exit code 2", async (context) => {
    const fixture = await fixtureDuring(context);
    const run = new RolecallProcess(context, [...commandFor(fixture), "--format", "json"]);
    await until("the schema", () => fixture.schemas.size === 1);
    run.process.kill("SIGINT");
    assert.equal(await run.exit, 2);
    const { diagnostics, data } = assertResultDocument(run.stdout);
    assert.equal(diagnostics[0]?.rule_id, "RC004");
    assert.equal((data as { schema_removed: boolean }).schema_removed, true);
    assert.deepEqual([fixture.schemas.size, fixture.calls], [0, []]);
  });

  test("refuses writes that fail before the switchover, and removes its schema", async (context) => {
    const fixture = await fixtureDuring(context, { failsWrites: true });
    const { exit_code: code, diagnostics } = await runJson(commandFor(fixture));
    assert.deepEqual([code, diagnostics.map(({ rule_id: id }) => id)], [2, ["RC140"]]);
    assert.match(diagnostics[0]?.message ?? "", /fail already: 25006 cannot execute INSERT/);
    assert.deepEqual([fixture.schemas.size, fixture.calls], [0, []]);
  });
});

/** What keeps a rehearsal from beginning, and the message. */
const refusals: readonly (readonly [faults: RehearsalFaults, argv: readonly string[], message: RegExp])[] = [
  [{ paused: true }, [], /demo is paused/],
  [{ failsafe: true }, [], /failsafe mode/],
  [{ scheduled: true }, [], /a switchover of demo is scheduled at 2099-01-31T03:00:00Z/],
  [{ leaderless: true }, [], /no node of demo leads/],
  [{ replicaReason: "lagging" }, [], /no replica of demo is fit to be promoted \(pg2: lagging, lag 0B\)/],
  [{ replicaReason: "down" }, ["--candidate", "pg2"], /the candidate is not fit to be promoted \(pg2: down/],
  [{}, ["--candidate", "pg1"], /pg1 is not a replica of demo \(pg2\)/],
  [{ dryRunRefusal: "nofailover" }, [], /would be refused with 412 nofailover: not now/],
  [{ readOnly: true }, [], /leads to 10\.0\.0\.1:5432, which is in recovery/],
  [{ system: "7001" }, [], /leads to another cluster \(system identifier 7001, pg1 has 7000\)/],
  [{ mayCreate: false }, [], /app may not make a schema in app/],
  [{ password: "right" }, [], /asks for the password of app: pass --dsn-password-file/],
  [{ password: "right" }, ["--dsn-password-file", "$WRONG"], /28P01 password authentication failed/],
  [{}, ["--dsn", "postgresql://app@127.0.0.1:1/app"], /ECONNREFUSED/],
  [{}, ["--node-dsn", "pg2=postgresql://app@127.0.0.1:1/app"], /the database of pg2 cannot be queried: .*ECONNREFUSED/],
];

describe("the checks of a rehearsal", () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-rehearse-"));
  const file = join(folder, "wrong");
  writeFileSync(file, "wrong\n", { mode: 0o600 });

  for (const [faults, argv, message] of refusals)
    test(`refuse ${JSON.stringify(faults)} ${argv.join(" ")}`, async (context) => {
      const fixture = await fixtureDuring(context, faults);
      const command = [...commandFor(fixture), ...argv.map((word) => (word === "$WRONG" ? file : word))];
      for (const [more, code] of [
        [[], 2],
        [["--dry-run"], 1],
      ] as const) {
        const { exit_code: exitCode, diagnostics } = await runJson([...command, ...more]);
        assert.deepEqual([exitCode, diagnostics.map(({ rule_id: id }) => id)], [code, ["RC140"]]);
        assert.match(diagnostics[0]?.message ?? "", message);
      }
      assert.deepEqual([fixture.schemas.size, fixture.calls], [0, []]);
    });

  test("pass in a dry run, which changes nothing and names schemas of earlier rehearsals", async (context) => {
    const fixture = await fixtureDuring(context, { leftover: "rolecall_rehearsal_0badcafe", password: "wrong" });
    const { code, out } = await runText(commandFor(fixture, ["--dry-run", "--dsn-password-file", file]));
    assert.equal(code, 0);
    assert.match(out, /dry run: nothing was changed\./);
    assert.match(
      out,
      /RC145.*rolecall_rehearsal_0badcafe exists .*: DROP SCHEMA IF EXISTS "rolecall_rehearsal_0badcafe" CASCADE/,
    );
    assert.deepEqual([fixture.schemas.size, fixture.calls], [1, []]);
    rmSync(folder, { recursive: true });
  });

  test("need a confirmation", async (context) => {
    const fixture = await fixtureDuring(context);
    const { code, err } = await runText(commandFor(fixture, []));
    assert.equal(code, 2);
    assert.match(err, /This switches demo over from pg1 to the node that the cluster elects.*pass --yes/);
    assert.deepEqual([fixture.schemas.size, fixture.calls], [0, []]);
  });
});

/** Command lines that are not valid, and the message. */
const usage: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
  [["--yes"], /--dsn must name the pool/],
  [["--dsn", "postgresql://app:secret@h/app"], /--dsn must not hold a password/],
  [["--dsn", "host=h password=secret"], /--dsn must not hold a password/],
  [["--dsn", "host=h", "--rate", "1000"], /--rate must be an integer from 1 to 100/],
  [["--dsn", "host=h", "--deadline", "1h"], /--deadline must be at most 600s/],
  [["--dsn", "host=h", "--node-dsn", "host=pg1"], /./],
  [["--dsn", "host=h", "--node-dsn", "postgresql://pg1/app"], /--node-dsn must be NAME=DSN/],
  [["--dsn", "host=h", "--kill"], /--kill needs --lab SCOPE/],
  [["--dsn", "host=h", "--kill", "--lab", "demo"], /--kill needs --kill-command/],
  [["--dsn", "host=h", "--kill-command", "true"], /--kill-command can be used with --kill only/],
  [
    ["--dsn", "host=h", "--kill", "--lab", "demo", "--kill-command", "true", "--candidate", "pg2"],
    /cannot be used together/,
  ],
];

for (const [argv, message] of usage)
  test(`rehearse ${argv.join(" ")} is a wrong command line`, async () => {
    const { code, err } = await runText(["rehearse", "--server", "http://127.0.0.1:1", ...argv]);
    assert.equal(code, 2);
    assert.match(err, message);
    assert.doesNotMatch(err, /secret/);
  });
