/** Two processes: the first has announced a pause and dies or stands still, the second is a whole rolecall. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite, test, type TestContext } from "node:test";
import { freePort } from "../../fake/free-port.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { PausableConsole } from "../../fake/pausable-console.ts";
import { RolecallProcess, writeConfigFile } from "../../fake/rolecall-process.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

interface First {
  readonly process: ChildProcess;
  /** What it has said. */
  readonly lines: () => readonly string[];
}

interface Pair {
  readonly first: First;
  readonly second: RolecallProcess;
  readonly pgbouncer: PausableConsole;
  readonly metrics: () => Promise<string>;
}

async function startPair(context: TestContext): Promise<Pair> {
  const pgbouncer = await new PausableConsole(["orders"]).listen(context);
  const tokenFile = join(temporaryFolder("two-processes"), "token");
  writeFileSync(tokenFile, "secret\n");
  const port = await freePort();
  const config = writeConfigFile(
    context,
    `
clusters: [{ name: orders, nodes: [{ name: pg1, api: "http://127.0.0.1:1" }] }]
listen: [{ port: ${port}, dialect: admin, read_only: true, pause_tokens: [${tokenFile}] }]
poolers:
  - name: pgb1
    pgbouncer: { address: "127.0.0.1:${pgbouncer.console.port}", user: rolecall }
    databases: [{ name: orders }]
`,
  );
  const second = new RolecallProcess(context, ["serve", "--config", config]);
  const url = `http://127.0.0.1:${port}`;
  await until({ what: "the second rolecall", seconds: 60, evidence: () => second.stderr }, async () => {
    const answer = await sendRequest(`${url}/livez`).catch(() => null);
    return answer?.status === 200;
  });
  const given = {
    peer: { name: "core2", url, tokenFile, tls: null },
    intent: {
      run: "r1",
      cluster: "orders",
      deadlineWallMs: Date.now() + 600_000,
      targets: [{ pooler: "pgb1", database: "orders", console: pgbouncer.target }],
    },
  };
  const module = fileURLToPath(new URL("announcing-process.js", import.meta.url));
  const child = spawn(process.execPath, [module, JSON.stringify(given)], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (text: Buffer) => (said += text.toString()));
  const lines = (): readonly string[] => said.split("\n").slice(0, -1);
  await until({ what: "an echo", seconds: 60, evidence: () => said }, () => lines().includes("echo"));
  assert.equal(lines()[0], "acknowledged");
  pgbouncer.paused.add("orders");
  return {
    first: { process: child, lines },
    second,
    pgbouncer,
    metrics: async () => (await sendRequest(`${url}/metrics`)).body,
  };
}

suite("the first of two rolecalls", { timeout: 180_000 }, () => {
  test("is killed: the second one resumes what it paused", async (context) => {
    const { first, second, pgbouncer, metrics } = await startPair(context);
    assert.match(await metrics(), /rolecall_pauses_held\{cluster="orders",state="watched"\} 1\n/);
    first.process.kill("SIGKILL");
    await until("RESUME", () => pgbouncer.paused.size === 0);
    await second.waitForLog('"event":"pauses_lifted"');
    assert.deepEqual(pgbouncer.changes, ["RESUME orders"]);
    assert.match(second.stderr, /"event":"pauses_taken_over"/);
    assert.match(await metrics(), /rolecall_pauses_held\{cluster="orders",state="resuming"\} 0\n/);
  });

  test("stands still, and goes on too late: it hears that it was taken over", async (context) => {
    const { first, second, pgbouncer } = await startPair(context);
    first.process.kill("SIGSTOP");
    await until("RESUME", () => pgbouncer.paused.size === 0);
    await second.waitForLog('"event":"pauses_lifted"');
    assert.ok(!first.lines().includes("taken over by the peer"));
    first.process.kill("SIGCONT");
    await until("the fence", () => first.lines().includes("taken over by the peer"));
  });

  test("lives: nothing is resumed, also when the second one stands still for a while", async (context) => {
    const { first, second, pgbouncer } = await startPair(context);
    const before = first.lines().length;
    second.process.kill("SIGSTOP");
    await new Promise((resolve) => void setTimeout(resolve, 3_000));
    second.process.kill("SIGCONT");
    await until("more echoes", () => first.lines().length > before + 2);
    assert.deepEqual(pgbouncer.changes, []);
    assert.doesNotMatch(second.stderr, /pauses_taken_over/);
    assert.ok(first.lines().every((line) => line === "acknowledged" || line === "echo"));
  });
});
