import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson, runText } from "../../fake/command-line.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 120_000 };

interface Configured {
  readonly file: string;
  readonly directory: string;
  readonly server: string;
  readonly nodes: Awaited<ReturnType<typeof openFakeCluster>>;
}

/** The configuration of a rolecall that monitors two fake nodes. @param history the value of that key */
async function configure(context: TestContext, history: string): Promise<Configured> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const [port, admin] = [await freePort(), await freePort()];
  const rows = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [${rows}] }]\nprobe: { interval: 100ms }\ndrain: 0s\nhistory: ${history}\n` +
      `listen: [{ port: ${port} }, { port: ${admin}, dialect: admin }]\n`,
  );
  return { file, directory: join(dirname(file), "past"), server: `http://127.0.0.1:${admin}`, nodes };
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

test("after kill -9 in the middle of writing, the time before is still known", limit, async (context) => {
  const { file, directory, server, nodes } = await configure(context, "{ directory: past }");
  const first = new RolecallProcess(context, ["serve", "--config", file]);
  await first.waitForLog('"listening"', 2);
  await nodes[1]?.close();
  await until("the event on disk", async () => {
    const { data } = await runJson(["history", "--directory", directory]);
    return JSON.stringify(data).includes('"node_down"');
  });
  const before = JSON.parse(await textOf(`${server}/nodes/pg2/verdicts`)).changes;
  const killedAtMs = Date.now();
  first.process.kill("SIGKILL");
  await first.exit;
  assert.ok(existsSync(join(directory, "lock")), "the lock of a killed process stays");
  const second = new RolecallProcess(context, ["serve", "--config", file]);
  await second.waitForLog('"listening"', 2);
  const changes = JSON.parse(await textOf(`${server}/nodes/pg2/verdicts`)).changes;
  assert.deepEqual(changes.slice(0, before.length), before);
  const events = JSON.parse(await textOf(`${server}/events`)).events;
  assert.ok(
    events.some(({ kind, at }: { kind: string; at: string }) => kind === "node_down" && Date.parse(at) < killedAtMs),
  );
  const around = new Date(killedAtMs).toISOString();
  const incident = await runText([
    "incident",
    "--server",
    server,
    "--around",
    around,
    "--cluster",
    "demo",
    "--save",
    "-",
  ]);
  assert.deepEqual([incident.code, incident.err], [0, ""]);
  const began = /^began: (.*)$/m.exec(incident.out)?.[1] ?? "";
  assert.ok(Date.parse(began) < killedAtMs, incident.out);
  assert.match(incident.out, /failure: refused/);
  const nothing = await runText(["incident", "--server", server, "--around", "3d", "--cluster", "demo"]);
  assert.deepEqual([nothing.code, nothing.out], [1, ""]);
  assert.match(nothing.err, /^error RC090 {2}Nothing is kept of demo around .*: evidence is kept since /);
});

test("two processes never write one directory: the second waits until the first has ended", limit, async (context) => {
  const one = await configure(context, "{ directory: past }");
  const first = new RolecallProcess(context, ["serve", "--config", one.file]);
  await first.waitForLog('"listening"', 2);
  await until("files of the first process", () => existsSync(join(one.directory, "lock")));
  const two = await configure(context, `{ directory: "${one.directory}" }`);
  const second = new RolecallProcess(context, ["serve", "--config", two.file]);
  await second.waitForLog("history not written; the service goes on without it");
  assert.match(second.stderr, new RegExp(`got process ${first.process.pid} that uses it too`));
  assert.match(await textOf(`${two.server}/metrics`), /^rolecall_history_writing 0$/m);
  first.process.kill("SIGKILL");
  await second.waitForLog('"history is written"');
  assert.match(await textOf(`${two.server}/metrics`), /^rolecall_history_writing 1$/m);
});

test("without a configured history, and with enabled: false, no file is written", limit, async (context) => {
  for (const history of ["null", "{ enabled: false, directory: past }"]) {
    const { file, server } = await configure(context, history);
    const running = new RolecallProcess(context, ["serve", "--config", file]);
    await running.waitForLog('"listening"', 2);
    assert.doesNotMatch(await textOf(`${server}/metrics`), /^rolecall_history_writing \d/m);
    running.process.kill("SIGTERM");
    assert.equal(await running.exit, 0);
    assert.deepEqual(readdirSync(dirname(file)), ["rolecall.yaml"]);
  }
});

test("a history that cannot be written never stops the service", limit, async (context) => {
  const { file, directory, server } = await configure(context, "{ directory: past }");
  writeFileSync(directory, "a file in its place");
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog('"listening"', 2);
  await running.waitForLog("history not written");
  assert.equal((await fetch(`${server}/readyz`)).status, 200);
  assert.match(await textOf(`${server}/incident`), /^steps:\n/m);
});
