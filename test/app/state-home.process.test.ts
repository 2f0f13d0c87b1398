/** Where a service keeps its state without `state_file`, and what a second one does there: real processes. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson, runText } from "../fake/command-line.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 120_000 };

interface Service {
  readonly file: string;
  readonly server: string;
  start(env: NodeJS.ProcessEnv): Promise<RolecallProcess>;
}

async function serviceOf(context: TestContext, more = ""): Promise<Service> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const [health, admin] = [await freePort(), await freePort()];
  const rows = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [${rows}] }]\nprobe: { interval: 100ms }\ndrain: 0s\n` +
      `listen: [{ port: ${health} }, { port: ${admin}, dialect: admin }]\n${more}`,
  );
  return {
    file,
    server: `http://127.0.0.1:${admin}`,
    async start(env) {
      const running = new RolecallProcess(context, ["serve", "--config", file], { env });
      await running.waitForLog('"listening"', 2);
      return running;
    },
  };
}

function folderOf(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-home-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function stateOf(server: string): Promise<unknown> {
  const { config }: { readonly config: { readonly state: unknown } } = JSON.parse(
    await (await fetch(`${server}/status`)).text(),
  );
  return config.state;
}

test(
  "a service keeps state and history where the system says, says where, and has them again",
  limit,
  async (context) => {
    const folder = folderOf(context);
    const service = await serviceOf(context);
    const env = { STATE_DIRECTORY: folder };
    const first = await service.start(env);
    const file = join(folder, "state.json");
    assert.match(
      first.stderr,
      new RegExp(`"file":"${file}","history":"${file}.history","from":"STATE_DIRECTORY",.*is kept`),
    );
    const state = { file, history: `${file}.history`, from: "STATE_DIRECTORY", problem: null };
    assert.deepEqual(await stateOf(service.server), state);
    const body = JSON.stringify({ for: "1h", reason: "test" });
    const headers = { "content-type": "application/json" };
    const drained = await fetch(`${service.server}/drains/demo/pg2`, { method: "POST", headers, body });
    assert.match(await drained.text(), /"durable": ?true/);
    await until("the history", () => existsSync(join(folder, "state.json.history", "lock")));
    const { coverage, diagnostics } = await runJson(["doctor", "--config", service.file]);
    assert.equal(coverage.find(({ id }) => id === "state")?.detail, `${file} ($STATE_DIRECTORY) at ${service.server}`);
    assert.ok(!diagnostics.some(({ rule_id: rule }) => rule === "RC116"));
    first.process.kill("SIGKILL");
    await first.exit;
    const second = await service.start(env);
    assert.match(await (await fetch(`${service.server}/status`)).text(), /"reason": ?"test"/);
    assert.deepEqual(await stateOf(service.server), state);
    second.process.kill("SIGTERM");
    assert.equal(await second.exit, 0);
    assert.ok(!existsSync(`${file}.lock`), "an ended process leaves no lock");
  },
);

test("a second service does not share the folder of the first, and says who has it", limit, async (context) => {
  const folder = folderOf(context);
  const [one, two] = [await serviceOf(context), await serviceOf(context)];
  const env = { XDG_STATE_HOME: folder };
  const first = await one.start(env);
  const file = join(folder, "rolecall", "state.json");
  assert.deepEqual(await stateOf(one.server), {
    file,
    history: `${file}.history`,
    from: "XDG_STATE_HOME",
    problem: null,
  });
  const second = await two.start(env);
  const problem = `process ${first.process.pid} uses ${join(folder, "rolecall")} ($XDG_STATE_HOME)`;
  assert.ok(second.stderr.includes(`"level":"warn"`) && second.stderr.includes(problem), second.stderr);
  assert.deepEqual(await stateOf(two.server), { file: null, history: null, from: null, problem });
  const { diagnostics } = await runJson(["doctor", "--config", two.file]);
  assert.deepEqual(
    diagnostics.filter(({ rule_id: rule }) => rule === "RC116").map(({ severity, message }) => [severity, message]),
    [["info", `the rolecall at ${two.server} keeps no state: ${problem}`]],
  );
  const lock = readFileSync(`${file}.lock`, "utf8");
  second.process.kill("SIGTERM");
  assert.equal(await second.exit, 0);
  assert.equal(readFileSync(`${file}.lock`, "utf8"), lock, "the lock of the first stays");
});

test("state_file wins, null keeps nothing, and a reload follows", limit, async (context) => {
  for (const [key, expected] of [
    ["state_file: own.json", "configuration"],
    ["state_file: null", null],
  ] as const) {
    const folder = folderOf(context);
    const service = await serviceOf(context, key);
    const running = await service.start({ STATE_DIRECTORY: folder, XDG_STATE_HOME: folder });
    const state = JSON.stringify(await stateOf(service.server));
    assert.ok(state.includes(`"from":${JSON.stringify(expected)}`), state);
    assert.deepEqual(readdirSync(folder), []);
    // It keeps its state beside its configuration, in a folder that is deleted next.
    running.process.kill("SIGKILL");
    await running.exit;
  }
});

test("two services with one configured file say so, in the log, at /status and in doctor", limit, async (context) => {
  const shared = join(folderOf(context), "shared.json");
  const [one, two] = [
    await serviceOf(context, `state_file: ${shared}`),
    await serviceOf(context, `state_file: ${shared}`),
  ];
  const first = await one.start({});
  assert.doesNotMatch(first.stderr, /two processes/);
  const second = await two.start({});
  assert.match(second.stderr, new RegExp(`two processes`));
  const problem = `it must be used by one process, got process ${first.process.pid} that uses it too`;
  assert.match(JSON.stringify(await stateOf(two.server)), new RegExp(problem));
  const { diagnostics } = await runJson(["doctor", "--config", two.file]);
  assert.deepEqual(
    diagnostics.filter(({ rule_id: rule }) => rule === "RC116").map(({ severity, message }) => [severity, message]),
    [["warning", `${shared}: ${problem}`]],
  );
  const status = await runText(["status", "--server", two.server]);
  assert.ok(status.out.includes(`${shared}: ${problem}`), status.out);
});

test("one-shot commands and simulated clusters keep nothing", limit, async (context) => {
  const folder = folderOf(context);
  const env = { STATE_DIRECTORY: folder, XDG_STATE_HOME: folder };
  const { file } = await serviceOf(context);
  for (const argv of [
    ["doctor", file, "--offline"],
    ["status", "--config", file],
    ["doctor", "--config", file],
  ])
    await runText(argv, { env });
  const [node, health, admin] = [await freePort(), await freePort(), await freePort()];
  const demo = writeConfigFile(
    context,
    `clusters: [{ name: demo, discover: ["http://127.0.0.1:${node}"] }]\nsimulator: { nodes: 1, port: ${node} }\n` +
      `listen: [{ port: ${health} }, { port: ${admin}, dialect: admin }]\n`,
  );
  const running = new RolecallProcess(context, ["serve", "--config", demo], { env });
  await running.waitForLog('"listening"', 2);
  assert.match(running.stderr, /"problem":"the cluster is simulated"/);
  const shown = new RolecallProcess(context, ["demo", "--port", "0"], { env });
  await until("the demo", () => shown.stdout.includes("http://127.0.0.1"));
  assert.deepEqual(readdirSync(folder), []);
});
