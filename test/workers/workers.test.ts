import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { PassThrough } from "node:stream";
import { App } from "../../src/app/app.ts";
import type { Config } from "../../src/config/model/config.ts";
import { ListenError } from "../../src/http/listener/listen-error.ts";
import { ask } from "../fake/ask.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { openFakeCluster, type FakeNode } from "../fake/fake-node.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 60_000 };
const health = listenerOf({ wholeCluster: true, operatorPages: true });
const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
const exporter = listenerOf({ dialect: "exporter", address: "127.0.0.3", cluster: "demo" });

interface Town {
  readonly app: App;
  readonly nodes: readonly FakeNode[];
  readonly config: Config;
  readonly health: string;
  readonly admin: string;
  readonly exporter: string;
  /** The process ids of the workers that were started, in their order. */
  readonly pids: () => readonly number[];
}

/** Three real nodes, and rolecall with two workers before them. */
async function townOf(context: TestContext): Promise<Town> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const plain = configOf({
    clusters: [clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })) })],
    listen: [health, admin, exporter],
  });
  const config = { ...plain, workers: 2, probe: { ...plain.probe, intervalMs: 50, clusterIntervalMs: 100 } };
  const pids: number[] = [];
  const lines = new PassThrough();
  lines.on("data", (line: Buffer) => {
    const told = JSON.parse(line.toString()) as { readonly msg: string; readonly pid: number };
    if (told.msg === "worker started") pids.push(told.pid);
  });
  const app = new App(config, pino({ base: null }, lines));
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const [first, second, third] = app.doors.map(({ config: { address }, port }) => `http://${address}:${port}`);
  return { app, nodes, config, health: first ?? "", admin: second ?? "", exporter: third ?? "", pids: () => pids };
}

async function metric(town: Town, name: string): Promise<number> {
  const { body } = await sendRequest(`${town.admin}/metrics`);
  const line = body.split("\n").find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

test("workers answer, follow what is probed, and their answers count as ours", limit, async (context) => {
  const town = await townOf(context);
  assert.equal((await sendRequest(`${town.health}/nodes/pg1/primary`)).status, 200);
  for (const node of town.nodes) node.leader = "pg2";
  await until(
    "pg2 fit as the primary",
    async () => (await sendRequest(`${town.health}/nodes/pg2/primary`)).status === 200,
  );
  assert.equal((await sendRequest(`${town.health}/nodes/pg1/primary`)).status, 503);
  assert.equal(await metric(town, "rolecall_workers"), 2);
  const before = await metric(town, 'rolecall_answers_total{route="leader",status="503"}');
  assert.ok(Number.isNaN(before), "nobody has asked that yet");
  for (let asked = 0; asked < 7; asked += 1)
    assert.equal((await sendRequest(`${town.health}/nodes/pg3/leader`)).status, 503);
  assert.equal(await metric(town, 'rolecall_answers_total{route="leader",status="503"}'), 7);
});

test("a node that is drained is drained for the next check", limit, async (context) => {
  const town = await townOf(context);
  const drain = { for: "1min", reason: "kernel upgrade" };
  const { status } = await sendRequest(`${town.admin}/drains/demo/pg2`, {
    method: "POST",
    body: drain,
    headers: { "content-type": "application/json" },
  });
  assert.equal(status, 200);
  await until(
    "pg2 drained",
    async () => (await sendRequest(`${town.health}/nodes/pg2/replica`)).headers["x-rolecall-reason"] === "drained",
  );
});

test("what is not a check is answered too, as by one process", limit, async (context) => {
  const town = await townOf(context);
  const overview = JSON.parse((await sendRequest(`${town.health}/status`)).body) as {
    readonly clusters: readonly unknown[];
  };
  assert.equal(overview.clusters.length, 1);
  assert.match((await sendRequest(`${town.health}/explain?node=pg2&check=/replica&format=text`)).body, /pg2/);
  assert.equal((await sendRequest(`${town.exporter}/up`)).body, "primary");
  const page = await sendRequest(`${town.exporter}/metrics`);
  assert.equal(page.status, 200);
  assert.match(page.body, /^rolecall_workers 2$/m);
  assert.equal((await sendRequest(`${town.exporter}/nothing`)).status, 404);
  assert.equal((await sendRequest(`${town.health}/switchover`, { method: "POST", body: {} })).status, 403);
  const lag = await sendRequest(`${town.health}/replica?lag=nonsense`);
  assert.equal(lag.status, 400);
  assert.equal(lag.headers.date, undefined);
});

test("the relay is for workers alone", limit, async (context) => {
  const town = await townOf(context);
  const from = Buffer.from(
    JSON.stringify({ listener: "127.0.0.1 0 plain  node 0", visitor: { address: "::1", who: "me" } }),
  ).toString("base64");
  const headers = { "x-rolecall-relay": "guessed", "x-rolecall-relay-from": from };
  const answer = await sendRequest(`${town.health}/status`, { headers });
  assert.equal(answer.status, 200, "what a client says under these names is not heard");
});

test("workers that are killed, one or all, leave nobody refused", limit, async (context) => {
  const town = await townOf(context);
  const answers = new Map<string, number>();
  const over = new AbortController();
  context.after(() => over.abort());
  const storm = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const came = await sendRequest(`${town.health}/nodes/pg1/primary`).then(
        ({ status }) => String(status),
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      answers.set(came, (answers.get(came) ?? 0) + 1);
    }
  };
  const storms = Array.from({ length: 4 }, storm);
  const dead = new Set<number>();
  for (const victims of [1, 2]) {
    const known = town.pids().length;
    const living = town.pids().filter((pid) => !dead.has(pid));
    for (const pid of living.slice(0, victims)) {
      dead.add(pid);
      process.kill(pid, "SIGKILL");
    }
    await until(
      { what: "new workers in place of those that ended", seconds: 30 },
      async () => town.pids().length === known + victims && (await metric(town, "rolecall_workers")) === 2,
    );
  }
  over.abort();
  await Promise.all(storms);
  // What a worker was just answering may be reset; nothing else may come.
  const others = [...answers.keys()].filter((came) => !["200", "ECONNRESET"].includes(came));
  assert.deepEqual(others, []);
  assert.ok((answers.get("ECONNRESET") ?? 0) <= 12, "at most what was under way");
  assert.ok((answers.get("200") ?? 0) > 20);
  assert.equal(await metric(town, "rolecall_workers_lost_total"), 3);
});

test("a worker that comes later answers from what was known before it", limit, async (context) => {
  const town = await townOf(context);
  await town.nodes[2]?.close();
  await until(
    "pg3 down",
    async () => (await sendRequest(`${town.health}/nodes/pg3/replica`)).phrase === "down refused",
  );
  const known = town.pids().length;
  for (const pid of town.pids()) process.kill(pid, "SIGKILL");
  const first = await sendRequest(`${town.health}/nodes/pg3/replica`).catch(() =>
    sendRequest(`${town.health}/nodes/pg3/replica`),
  );
  assert.equal(first.phrase, "down refused");
  await until("two workers again", async () => town.pids().length === known + 2);
});

test("a reload reaches every worker whole, or not at all", limit, async (context) => {
  const town = await townOf(context);
  const port = town.app.doors[0]?.port ?? 0;
  const taken = town.app.doors[1]?.port ?? 0;
  const clusters = [clusterOf({ nodes: town.nodes.slice(0, 2).map(({ name, api }) => nodeOf({ name, api })) })];
  const wrong = {
    ...town.config,
    clusters,
    listen: [health, admin, exporter, listenerOf({ address: "127.0.0.2", port: taken })],
  };
  await assert.rejects(town.app.reload(wrong), ListenError);
  assert.equal(
    (await sendRequest(`${town.health}/nodes/pg3/replica`)).status,
    200,
    "the old configuration is in force",
  );
  const other = listenerOf({ address: "127.0.0.4", cluster: "demo", node: "pg2" });
  await town.app.reload({ ...town.config, clusters, listen: [health, admin, other] });
  assert.equal(town.app.doors[0]?.port, port);
  for (let asked = 0; asked < 8; asked += 1)
    assert.equal((await sendRequest(`${town.health}/nodes/pg3/replica`)).status, 400);
  const bound = `http://127.0.0.4:${town.app.doors[2]?.port ?? 0}`;
  assert.equal((await sendRequest(`${bound}/replica`)).status, 200);
  await assert.rejects(sendRequest(`${town.exporter}/up`), { code: "ECONNREFUSED" });
});
