/** The command as a process, between a rolecall that serves a simulated cluster and commands that write files. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { Simulator } from "../../../src/tools/simulator/simulator.ts";
import { startSimulator } from "../../../src/tools/simulator/simulator.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 120_000 };
const folder = temporaryFolder("watch");
let simulator: Simulator;
let files = 0;

before(async () => {
  simulator = await startSimulator({ nodes: 3, port: 0, switchoverMs: 200 });
});

after(() => simulator.stop());

function newFile(): string {
  return join(folder, `out-${(files += 1)}`);
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

/** Starts a rolecall with an admin listener on a port. */
function serve(context: TestContext, port: number): RolecallProcess {
  const nodes = simulator.nodes.map(({ url }) => url).join(", ");
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, discover: [${nodes}] }]\n` +
      `listen: [{ port: ${port}, dialect: admin }]\nprobe: { interval: 100ms }\n`,
  );
  return new RolecallProcess(context, ["serve", "--config", file]);
}

function watch(context: TestContext, port: number, exec: string, ...more: readonly string[]): RolecallProcess {
  const server = ["--server", `http://127.0.0.1:${port}`];
  return new RolecallProcess(context, ["watch", "demo", "--exec", exec, ...server, ...more], { env: { OWN: "kept" } });
}

/** Makes another node the leader. @returns its name */
async function switchOver(from: string): Promise<string> {
  const url = simulator.nodes[0]?.url ?? "";
  const to = from === "pg1" ? "pg2" : "pg1";
  const body = JSON.stringify({ leader: from, candidate: to });
  await until("a switchover", async () => {
    const { status } = await fetch(`${url}/switchover`, { method: "POST", body });
    return status === 200;
  });
  return to;
}

test("runs the command at the start and at each change, with its variables", limit, async (context) => {
  const port = await freePort();
  serve(context, port);
  const file = newFile();
  const names = "$ROLECALL_CLUSTER $ROLECALL_CHECK $ROLECALL_NODE $ROLECALL_PREVIOUS_NODE $ROLECALL_ATTEMPT $OWN";
  const watching = watch(context, port, `echo "${names} $ROLECALL_HOST:$ROLECALL_PORT" >> ${file}; echo done`);
  await until("the first run", () => linesOf(file).length === 1);
  const to = await switchOver("pg1");
  await until("the second run", () => linesOf(file).length === 2);
  const [first, second] = linesOf(file);
  assert.match(first ?? "", /^demo \/primary pg1 {2}1 kept \S+:\d+$/);
  assert.match(second ?? "", new RegExp(`^demo /primary ${to} pg1 1 kept \\S+:\\d+$`));
  await until("the end of the second run", () => watching.stdout.split("exit code 0").length === 3);
  assert.equal(watching.stdout.split("\n").filter((line) => line === "done").length, 2);
  watching.process.kill("SIGTERM");
  assert.equal(await watching.exit, 0);
  assert.equal(linesOf(file).length, 2);
});

test("waits for a rolecall that does not answer yet, and runs nothing while it is away", limit, async (context) => {
  const port = await freePort();
  const file = newFile();
  const watching = watch(context, port, `echo "$ROLECALL_NODES" >> ${file}`, "--check", "/replica");
  await until("a complaint", () => watching.stdout.includes("nothing runs: Cannot reach rolecall"));
  const serving = serve(context, port);
  await until("the first run", () => linesOf(file).length >= 1);
  await until("both replicas", () => linesOf(file).length >= 2);
  const written = linesOf(file);
  serving.process.kill("SIGKILL");
  await serving.exit;
  await until("another complaint", () => watching.stdout.split("Cannot reach rolecall").length === 3);
  serve(context, port);
  watching.process.kill("SIGINT");
  assert.equal(await watching.exit, 0);
  assert.deepEqual(linesOf(file), written);
});

test("repeats a run that fails, and ends with 1 if the last one did", limit, async (context) => {
  const port = await freePort();
  serve(context, port);
  const file = newFile();
  const watching = watch(context, port, `echo run >> ${file}; exit 3`);
  await until("two runs", () => linesOf(file).length === 2);
  watching.process.kill("SIGTERM");
  assert.equal(await watching.exit, 1);
  assert.match(watching.stdout, /exit code 3.*\n.*the next attempt is in 1 s\n/);
  assert.match(watching.stdout, /RC033/);
});

test("ends a run at its limit, with the processes that it started", limit, async (context) => {
  const port = await freePort();
  serve(context, port);
  const file = newFile();
  const watching = watch(context, port, `sleep 600 & echo $! > ${file}; wait`, "--exec-timeout", "300ms");
  await until("the end of the run", () => watching.stdout.includes("at its limit of 300 ms"));
  const pid = Number(readFileSync(file, "utf8"));
  await until("the end of its process", () => !isAlive(pid));
  watching.process.kill("SIGTERM");
  assert.equal(await watching.exit, 1);
});

test("passes SIGTERM on to the command, and waits for its end", limit, async (context) => {
  const port = await freePort();
  serve(context, port);
  const file = newFile();
  const exec = `trap 'echo ended >> ${file}; exit 0' TERM; echo started >> ${file}; sleep 600 & wait`;
  const watching = watch(context, port, exec, "--format", "json");
  await until("the run", () => linesOf(file).length === 1);
  watching.process.kill("SIGTERM");
  assert.equal(await watching.exit, 0);
  assert.deepEqual(linesOf(file), ["started", "ended"]);
  const document = JSON.parse(watching.stdout) as { readonly exit_code: number };
  assert.equal(document.exit_code, 0);
});

test("leaves no process of the command behind when its shell has ended first", limit, async (context) => {
  const port = await freePort();
  serve(context, port);
  const file = newFile();
  const deaf = `(trap '' TERM; exec sleep 600) & trap 'exit 0' TERM; echo $! > ${file}; wait`;
  const watching = watch(context, port, deaf);
  await until("the run", () => linesOf(file).length === 1);
  watching.process.kill("SIGTERM");
  assert.equal(await watching.exit, 0);
  assert.equal(isAlive(Number(readFileSync(file, "utf8"))), false);
});

test("refuses what rolecall refuses, and needs a command", limit, async (context) => {
  const port = await freePort();
  const serving = serve(context, port);
  await serving.waitForLog("listening");
  for (const [args, rule] of [
    [["other", "--exec", "true"], "RC001"],
    [["demo", "--exec", "true", "--check", "/primry"], "RC031"],
    [["demo", "--exec", "true", "--check", "/replica?lag=x"], "RC001"],
    [["demo"], "RC001"],
  ] as const) {
    const watching = new RolecallProcess(context, ["watch", ...args, "--server", `http://127.0.0.1:${port}`]);
    assert.equal(await watching.exit, 2, args.join(" "));
    assert.match(watching.stderr, new RegExp(rule));
  }
});

function isAlive(pid: number): boolean {
  try {
    // A zombie that nobody has waited for has ended too.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
