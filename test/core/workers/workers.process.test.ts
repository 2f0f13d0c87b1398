import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { PassThrough } from "node:stream";
import { App } from "../../../src/app/app.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { ListenError } from "../../../src/core/http/listener/listen-error.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { openFakeCluster, type FakeNode } from "../../fake/fake-node.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 60_000 };
const health = listenerOf({ wholeCluster: true, operatorPages: true });
const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
const exporter = listenerOf({ dialect: "exporter", address: "127.0.0.3", cluster: "demo" });

interface Fixture {
  readonly app: App;
  readonly nodes: readonly FakeNode[];
  readonly config: Config;
  readonly health: string;
  readonly admin: string;
  readonly exporter: string;
  /** The process ids of the workers that were started, in their order. */
  readonly pids: () => readonly number[];
}

/** Three nodes, and rolecall with two workers in front of them. */
async function fixtureOf(context: TestContext): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const plain = configOf({
    clusters: [clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })) })],
    listen: [health, admin, exporter],
  });
  const config = { ...plain, workers: 2, probe: { ...plain.probe, intervalMs: 50, clusterIntervalMs: 100 } };
  const pids: number[] = [];
  const lines = new PassThrough();
  lines.on("data", (line: Buffer) => {
    const logged = JSON.parse(line.toString()) as { readonly msg: string; readonly pid: number };
    if (logged.msg === "worker started") pids.push(logged.pid);
  });
  const app = new App(config, pino({ base: null }, lines));
  context.after(() => app.stop({ drains: false }));
  await app.start();
  await until({ what: "two workers", seconds: 60 }, () => pids.length === 2);
  const [first, second, third] = app.listeners.map(({ config: { address }, port }) => `http://${address}:${port}`);
  return { app, nodes, config, health: first ?? "", admin: second ?? "", exporter: third ?? "", pids: () => pids };
}

async function metric(fixture: Fixture, name: string): Promise<number> {
  const { body } = await sendRequest(`${fixture.admin}/metrics`);
  const line = body.split("\n").find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

test("answers from workers, follows the probes, and counts the answers of workers", limit, async (context) => {
  const fixture = await fixtureOf(context);
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg1/primary`)).status, 200);
  for (const node of fixture.nodes) node.leader = "pg2";
  await until(
    "pg2 fit as the primary",
    async () => (await sendRequest(`${fixture.health}/nodes/pg2/primary`)).status === 200,
  );
  assert.equal((await sendRequest(`${fixture.health}/nodes/pg1/primary`)).status, 503);
  assert.equal(await metric(fixture, "rolecall_workers"), 2);
  const before = await metric(fixture, 'rolecall_answers_total{route="leader",status="503"}');
  assert.ok(Number.isNaN(before), "not requested yet");
  for (let round = 0; round < 7; round += 1)
    assert.equal((await sendRequest(`${fixture.health}/nodes/pg3/leader`)).status, 503);
  assert.equal(await metric(fixture, 'rolecall_answers_total{route="leader",status="503"}'), 7);
});

test("applies a drain to the next check", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const drain = { for: "1min", reason: "kernel upgrade" };
  const { status } = await sendRequest(`${fixture.admin}/drains/demo/pg2`, {
    method: "POST",
    body: drain,
    headers: { "content-type": "application/json" },
  });
  assert.equal(status, 200);
  await until(
    "pg2 drained",
    async () => (await sendRequest(`${fixture.health}/nodes/pg2/replica`)).headers["x-rolecall-reason"] === "drained",
  );
});

test("answers other requests too, as a single process does", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const overview = JSON.parse((await sendRequest(`${fixture.health}/status`)).body) as {
    readonly clusters: readonly unknown[];
  };
  assert.equal(overview.clusters.length, 1);
  assert.match((await sendRequest(`${fixture.health}/explain?node=pg2&check=/replica&format=text`)).body, /pg2/);
  assert.equal((await sendRequest(`${fixture.exporter}/up`)).body, "primary");
  const page = await sendRequest(`${fixture.exporter}/metrics`);
  assert.equal(page.status, 200);
  assert.match(page.body, /^rolecall_workers 2$/m);
  assert.equal((await sendRequest(`${fixture.exporter}/nothing`)).status, 404);
  assert.equal((await sendRequest(`${fixture.health}/switchover`, { method: "POST", body: {} })).status, 403);
  const lag = await sendRequest(`${fixture.health}/replica?lag=nonsense`);
  assert.equal(lag.status, 400);
  assert.equal(lag.headers.date, undefined);
});

test("takes relayed requests from workers only", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const from = Buffer.from(
    JSON.stringify({ listener: "127.0.0.1 0 plain  node 0", caller: { address: "::1", principal: "me" } }),
  ).toString("base64");
  const headers = { "x-rolecall-relay": "guessed", "x-rolecall-relay-from": from };
  const answer = await sendRequest(`${fixture.health}/status`, { headers });
  assert.equal(answer.status, 200, "these headers of a client are ignored");
});

test("refuses no client while workers are killed, one or all", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const answers = new Map<string, number>();
  const over = new AbortController();
  context.after(() => over.abort());
  const load = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const result = await sendRequest(`${fixture.health}/nodes/pg1/primary`).then(
        ({ status }) => String(status),
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      answers.set(result, (answers.get(result) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: 4 }, load);
  const dead = new Set<number>();
  for (const victims of [1, 2]) {
    const known = fixture.pids().length;
    const living = fixture.pids().filter((pid) => !dead.has(pid));
    for (const pid of living.slice(0, victims)) {
      dead.add(pid);
      process.kill(pid, "SIGKILL");
    }
    await until(
      { what: "new workers in place of those that ended", seconds: 30 },
      async () => fixture.pids().length === known + victims && (await metric(fixture, "rolecall_workers")) === 2,
    );
  }
  over.abort();
  await Promise.all(clients);
  // Only requests in flight in a killed worker may be reset.
  const others = [...answers.keys()].filter((result) => !["200", "ECONNRESET"].includes(result));
  assert.deepEqual(others, []);
  assert.ok((answers.get("ECONNRESET") ?? 0) <= 12, "at most the requests in flight");
  assert.ok((answers.get("200") ?? 0) > 20);
  assert.equal(await metric(fixture, "rolecall_workers_lost_total"), 3);
});

test("answers from earlier evidence in a worker that starts later", limit, async (context) => {
  const fixture = await fixtureOf(context);
  await fixture.nodes[2]?.close();
  await until(
    "pg3 down",
    async () => (await sendRequest(`${fixture.health}/nodes/pg3/replica`)).phrase === "down refused",
  );
  const known = fixture.pids().length;
  for (const pid of fixture.pids()) process.kill(pid, "SIGKILL");
  const first = await sendRequest(`${fixture.health}/nodes/pg3/replica`).catch(() =>
    sendRequest(`${fixture.health}/nodes/pg3/replica`),
  );
  assert.equal(first.phrase, "down refused");
  await until("two workers again", async () => fixture.pids().length === known + 2);
});

test("applies a reload to every worker, or to none", limit, async (context) => {
  const fixture = await fixtureOf(context);
  const port = fixture.app.listeners[0]?.port ?? 0;
  const taken = fixture.app.listeners[1]?.port ?? 0;
  const clusters = [clusterOf({ nodes: fixture.nodes.slice(0, 2).map(({ name, api }) => nodeOf({ name, api })) })];
  const wrong = {
    ...fixture.config,
    clusters,
    listen: [health, admin, exporter, listenerOf({ address: "127.0.0.2", port: taken })],
  };
  await assert.rejects(fixture.app.apply(wrong), ListenError);
  assert.equal(
    (await sendRequest(`${fixture.health}/nodes/pg3/replica`)).status,
    200,
    "the old configuration is in force",
  );
  const other = listenerOf({ address: "127.0.0.4", cluster: "demo", node: "pg2" });
  await fixture.app.apply({ ...fixture.config, clusters, listen: [health, admin, other] });
  assert.equal(fixture.app.listeners[0]?.port, port);
  for (let round = 0; round < 8; round += 1)
    assert.equal((await sendRequest(`${fixture.health}/nodes/pg3/replica`)).status, 400);
  const bound = `http://127.0.0.4:${fixture.app.listeners[2]?.port ?? 0}`;
  assert.equal((await sendRequest(`${bound}/replica`)).status, 200);
  await assert.rejects(sendRequest(`${fixture.exporter}/up`), { code: "ECONNREFUSED" });
});
