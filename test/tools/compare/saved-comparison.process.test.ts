import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test, type TestContext } from "node:test";
import { App } from "../../../src/app/app.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { runJson, runText } from "../../fake/command-line.ts";
import { openFakeCluster, type FakeNode } from "../../fake/fake-node.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 120_000 };

interface Saved {
  readonly rounds: number;
  readonly elapsed_ms: number;
  readonly rows: readonly { readonly samples: number }[];
}

interface Stage {
  readonly argv: readonly string[];
  readonly file: string;
  readonly pg1: FakeNode;
}

/** A cluster with a running rolecall, and the arguments that compare both. */
async function stage(context: TestContext): Promise<Stage> {
  const [pg1] = await openFakeCluster(context, ["pg1", "pg2"]);
  assert.ok(pg1);
  const clusters = [clusterOf({ discover: [pg1.api] })];
  const app = new App(configOf({ clusters, listen: [listenerOf({ operatorPages: true })] }), silentLogger);
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const file = writeConfigFile(context, "").replace(/\.yaml$/, ".state");
  const server = `http://127.0.0.1:${app.listeners[0]?.port}`;
  const nodes = ["--discover", pg1.api, "--cluster", "demo", "--check", "/primary"];
  return { argv: ["compare", ...nodes, "--server", server, "--interval", "100ms"], file, pg1 };
}

function saved(file: string): Saved | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Saved;
  } catch {
    return null;
  }
}

test("Ctrl-C prints the table so far, and exits with 2", limit, async (context) => {
  const { argv, file } = await stage(context);
  const running = new RolecallProcess(context, [...argv, "--for", "14d", "--state", file]);
  await until("a saved round", () => (saved(file)?.rounds ?? 0) > 0);
  running.process.kill("SIGINT");
  assert.equal(await running.exit, 2);
  assert.match(running.stdout, /samples agree \(\d+\.\d\d %\)\n *NODE +CHECK +SAMPLES/);
  assert.match(running.stdout, /demo\/pg1 +\/primary/);
  assert.match(running.stderr, /RC004 +ended by SIGINT\n.*: the same command continues them\./);
  assert.deepEqual(running.stderr.match(/\bRC\d{3}\b/g), ["RC004"]);
});

test(
  "Ctrl-C without a state file is one error, which names the option that keeps the counts",
  limit,
  async (context) => {
    const { argv, pg1 } = await stage(context);
    const running = new RolecallProcess(context, [...argv, "--for", "14d"]);
    await until("a second round", () => pg1.requests.filter((target) => target === "/primary").length > 1);
    running.process.kill("SIGINT");
    assert.equal(await running.exit, 2);
    assert.match(running.stdout, /samples agree/);
    assert.match(running.stderr, /RC004 +ended by SIGINT\n.*Runs with --state FILE continue the counts\./);
    assert.deepEqual(running.stderr.match(/\bRC\d{3}\b/g), ["RC004"]);
  },
);

test("goes on with the counts of a state file, also after kill -9", limit, async (context) => {
  const { argv, file } = await stage(context);
  const killed = new RolecallProcess(context, [...argv, "--for", "14d", "--state", file]);
  await until("a saved round", () => (saved(file)?.rounds ?? 0) > 0);
  killed.process.kill("SIGKILL");
  await killed.exit;
  const before = saved(file);
  assert.ok(before !== null);
  const { data, exit_code: code } = await runJson([...argv, "--state", file, "--for", `${before.elapsed_ms + 500}ms`]);
  assert.equal(code, 0);
  const after = saved(file);
  assert.ok(after !== null && after.rounds > before.rounds && after.elapsed_ms > before.elapsed_ms);
  assert.equal((data as { rounds: number }).rounds, after.rounds);
  const samples = ({ rows }: Saved): number => rows.reduce((sum, row) => sum + row.samples, 0);
  assert.ok(samples(after) > samples(before));
  assert.equal((data as { askings: number }).askings, samples(after));
  assert.deepEqual(
    readdirSync(dirname(file)).filter((name) => name.endsWith(".draft")),
    [],
  );
});

test(
  "refuses a state file of another comparison, and any other file, and leaves them as they are",
  limit,
  async (context) => {
    const { argv, file } = await stage(context);
    assert.equal((await runText([...argv, "--for", "300ms", "--state", file])).code, 0);
    const before = readFileSync(file, "utf8");
    const other = await runText([...argv, "--check", "/replica", "--for", "300ms", "--state", file]);
    assert.equal(other.code, 2);
    assert.match(`${other.out}${other.err}`, /Cannot resume from .*: it belongs to a comparison of other clusters/);
    assert.equal(readFileSync(file, "utf8"), before);
    for (const text of ["", "{}", "not JSON", '{"version":2}', before.replace(/"samples":\d+/, '"samples":-1')]) {
      writeFileSync(file, text);
      const { code, out, err } = await runText([...argv, "--for", "300ms", "--state", file]);
      assert.equal(code, 2, text);
      assert.match(`${out}${err}`, /must be a state file of rolecall compare/);
      assert.equal(readFileSync(file, "utf8"), text);
    }
    const unwritable = await runText([...argv, "--for", "300ms", "--state", "/no/such/folder/state"]);
    assert.equal(unwritable.code, 2);
    assert.match(`${unwritable.out}${unwritable.err}`, /Cannot write --state/);
  },
);
