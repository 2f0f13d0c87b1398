/** Who answers while no worker does: the main process (docs/operations.md, "Workers"). */
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { App } from "../../../src/app/app.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { ListenError } from "../../../src/core/http/listener/listen-error.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { openFakeCluster, type FakeNode } from "../../fake/fake-node.ts";
import { sendRequest, type HttpAnswer } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 120_000 };
const health = listenerOf({ wholeCluster: true, operatorPages: true });
const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
const exporter = listenerOf({ dialect: "exporter", address: "127.0.0.3", cluster: "demo" });

const standsIn = "no worker answers: the main process answers in their place";
const rests = "workers answer";

interface Fixture {
  readonly app: App;
  readonly config: Config;
  readonly nodes: readonly FakeNode[];
  readonly health: string;
  readonly admin: string;
  readonly exporter: string;
  /** The process id of the worker that started last. */
  readonly worker: () => number;
  /** How often a message was logged. */
  readonly logged: (message: string) => number;
}

/** Two nodes, and rolecall with one worker in front of them. */
async function fixtureOf(context: TestContext): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const plain = configOf({
    clusters: [clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })) })],
    listen: [health, admin, exporter],
  });
  const probe = { ...plain.probe, intervalMs: 50, clusterIntervalMs: 100 };
  const config: Config = { ...plain, workers: 1, probe, log: { level: "info", format: "json" } };
  const lines: { readonly msg: string; readonly pid: number }[] = [];
  const stream = new PassThrough();
  stream.on("data", (line: Buffer) => lines.push(JSON.parse(line.toString())));
  const app = new App(config, pino({ base: null }, stream));
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const worker = (): number => lines.findLast(({ msg }) => msg === "worker started")?.pid ?? 0;
  await until({ what: "a worker that answers", seconds: 60 }, () => worker() > 0);
  // The main process may have answered before the worker was ready.
  lines.splice(0, lines.length, ...lines.filter(({ msg }) => msg !== rests));
  const [first, second, third] = app.listeners.map(({ config: { address }, port }) => `http://${address}:${port}`);
  return {
    app,
    config,
    nodes,
    health: first ?? "",
    admin: second ?? "",
    exporter: third ?? "",
    worker,
    logged: (message) => lines.filter(({ msg }) => msg === message).length,
  };
}

/** Lets workers that start from now on end at once: Node refuses the option. @returns what ends that */
function preventWorkers(context: TestContext): () => void {
  const before = process.env["NODE_OPTIONS"];
  const restore = (): void => {
    if (before === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = before;
  };
  context.after(restore);
  process.env["NODE_OPTIONS"] = "--no-such-option";
  return restore;
}

async function killWorker({ worker, logged }: Fixture): Promise<void> {
  const times = logged(standsIn);
  process.kill(worker(), "SIGKILL");
  await until("the main process in the place of the worker", () => logged(standsIn) > times);
}

async function workerAnswers({ logged }: Fixture, times: number): Promise<void> {
  await until({ what: "a worker that answers", seconds: 60 }, () => logged(rests) === times);
}

test("the main process answers as a worker does until one is ready", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const { nodes } = fixture;
  const unlessTimed = ({ status, phrase, headers, body }: HttpAnswer): unknown => [
    status,
    phrase,
    Object.keys(headers),
    Object.keys(JSON.parse(body)),
  ];
  const targets = ["/nodes/pg1/primary", "/nodes/pg2/primary", "/replica?lag=x", "/status", "/readyz"];
  const ask = (): Promise<readonly unknown[]> =>
    Promise.all(targets.map(async (target) => unlessTimed(await sendRequest(fixture.health + target))));
  const byWorker = await ask();
  const end = preventWorkers(context);
  await killWorker(fixture);
  assert.deepEqual(await ask(), byWorker);
  assert.equal((await sendRequest(`${fixture.exporter}/up`)).body, "primary");
  assert.match((await sendRequest(`${fixture.admin}/metrics`)).body, /^rolecall_workers 0$/m);
  for (const node of nodes) node.leader = "pg2";
  await until(
    "pg2 fit as the primary",
    async () => (await sendRequest(`${fixture.health}/nodes/pg2/primary`)).status === 200,
  );
  end();
  await workerAnswers(fixture, 1);
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg2/primary`)).status, 200);
  assert.match((await sendRequest(`${fixture.admin}/metrics`)).body, /^rolecall_workers 1$/m);
});

test("a steady client loses only what a killed worker was answering, time after time", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const keepAlive = new Agent({ keepAlive: true });
  context.after(() => keepAlive.destroy());
  const over = new AbortController();
  context.after(() => over.abort());
  let [served, lost] = [0, 0];
  // How many kills have begun, and in how many the main process stands in already.
  let [kills, covered] = [0, 0];
  const unexplained: unknown[] = [];
  const load = async (agent: Agent | false): Promise<void> => {
    while (!over.signal.aborted) {
      const killsBefore = kills;
      const isCovered = kills === covered;
      try {
        const { status } = await sendRequest(`${fixture.health}/nodes/pg1/primary`, { tls: { agent } });
        served += 1;
        if (status !== 200) unexplained.push(status);
      } catch (error) {
        lost += 1;
        if (isCovered && kills === killsBefore) unexplained.push(error);
      }
    }
  };
  const clients = ([false, false, keepAlive, keepAlive] as const).map(load);
  while (kills < 3) {
    kills += 1;
    await killWorker(fixture);
    covered = kills;
    const before = served;
    await until("answers of the main process", () => served > before + 20);
    await workerAnswers(fixture, kills);
    const after = served;
    await until("answers of the worker", () => served > after + 20);
  }
  over.abort();
  await Promise.all(clients);
  assert.deepEqual(unexplained, []);
  assert.ok(lost <= 3 * clients.length, `${lost} lost: at most those in flight`);
});

test("without any worker a reload is applied, and answers go on", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const end = preventWorkers(context);
  await killWorker(fixture);
  const taken = listenerOf({ address: "127.0.0.2", port: fixture.app.listeners[1]?.port ?? 0 });
  await assert.rejects(fixture.app.apply({ ...fixture.config, listen: [health, admin, taken] }), ListenError);
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg1/primary`)).status, 200);
  assert.equal((await sendRequest(`${fixture.exporter}/up`)).body, "primary");
  await fixture.app.apply({ ...fixture.config, listen: [health, admin] });
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg1/primary`)).status, 200);
  await assert.rejects(sendRequest(`${fixture.exporter}/up`), { code: "ECONNREFUSED" });
  end();
  await workerAnswers(fixture, 1);
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg1/primary`)).status, 200);
  await assert.rejects(sendRequest(`${fixture.exporter}/up`), { code: "ECONNREFUSED" });
  await killWorker(fixture);
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg1/primary`)).status, 200);
  await assert.rejects(sendRequest(`${fixture.exporter}/up`), { code: "ECONNREFUSED" });
});

test("a stop without any worker closes everything", limit, async (context) => {
  const fixture = await fixtureOf(context);
  preventWorkers(context);
  await killWorker(fixture);
  await fixture.app.stop({ drains: false });
  for (const url of [fixture.health, fixture.admin, fixture.exporter])
    await assert.rejects(sendRequest(`${url}/livez`), { code: "ECONNREFUSED" });
});
