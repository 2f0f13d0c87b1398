import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { App } from "../../src/app/app.ts";
import type { ClusterConfig, Config, ListenerConfig } from "../../src/config/model/config.ts";
import { ListenError } from "../../src/http/listener/listen-error.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { openFakeCluster, type FakeNode } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";

function fixedCluster(nodes: readonly FakeNode[], parts: Partial<ClusterConfig> = {}): ClusterConfig {
  return clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })), ...parts });
}

function appOf(context: TestContext, config: Config, log = silentLogger): App {
  const app = new App(config, log);
  context.after(() => app.stop({ drains: false }));
  return app;
}

function quick(config: Config): Config {
  return { ...config, probe: { ...config.probe, intervalMs: 50, clusterIntervalMs: 100 } };
}

function portFor(app: App, listener: ListenerConfig): number {
  const openListener = app.doors.find(
    ({ config }) => config.address === listener.address && config.dialect === listener.dialect,
  );
  assert.ok(openListener !== undefined, "that listener is not open");
  return openListener.port;
}

async function status(port: number, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

const whole = listenerOf({ wholeCluster: true });
const limit = { timeout: 20_000 };

test("health listeners open when the first round is done: their first answer is right", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const app = appOf(context, configOf({ clusters: [clusterOf({ discover: [nodes[1]?.api ?? ""] })], listen: [whole] }));
  await app.start();
  const port = portFor(app, whole);
  assert.equal(await status(port, "/nodes/pg1/primary"), 200);
  assert.equal(await status(port, "/nodes/pg2/replica"), 200);
  assert.equal(await status(port, "/nodes/pg3/primary"), 503);
  assert.equal(await status(port, "/readyz"), 200);
});

test(
  "the admin listener is open before the first round is done, and is not ready until then",
  limit,
  async (context) => {
    const hanging = createServer(() => {});
    const hangingPort = await listenDuringTest(context, hanging);
    const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
    const clusters = [clusterOf({ nodes: [nodeOf({ name: "pg1", api: `http://127.0.0.1:${hangingPort}` })] })];
    const app = appOf(context, configOf({ clusters, listen: [whole, admin] }));
    const starting = app.start();
    await until("an open listener", () => app.doors.length === 1);
    const base = `http://127.0.0.2:${portFor(app, admin)}`;
    assert.deepEqual(
      [(await fetch(`${base}/livez`)).status, (await fetch(`${base}/readyz`)).statusText],
      [200, "starting"],
    );
    await starting;
    assert.equal(app.doors.length, 2);
    assert.equal((await fetch(`${base}/readyz`)).statusText, "blind");
    const metrics = await (await fetch(`${base}/metrics`)).text();
    assert.match(metrics, /rolecall_node_up\{cluster="demo",node="pg1"\} 0/);
    assert.match(metrics, /rolecall_probes_total\{cluster="demo",node="pg1",question="leader",outcome="timeout"\} 1/);
    assert.equal((await fetch(`${base}/primary`)).status, 404);
    assert.equal((await fetch(`${base}/metrics`, { method: "POST" })).status, 405);
  },
);

test("answers follow a switchover, a node that dies and one that comes back", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const app = appOf(context, quick(configOf({ clusters: [fixedCluster(nodes)], listen: [whole] })));
  await app.start();
  const port = portFor(app, whole);
  for (const node of nodes) node.leader = "pg2";
  await until("pg2 fit as the primary", async () => (await status(port, "/nodes/pg2/primary")) === 200);
  assert.equal(await status(port, "/nodes/pg1/primary"), 503);
  await nodes[1]?.close();
  await until(
    "pg2 down",
    async () => (await fetch(`http://127.0.0.1:${port}/nodes/pg2/primary`)).statusText === "down refused",
  );
  await nodes[1]?.open();
  await until("pg2 fit as the primary again", async () => (await status(port, "/nodes/pg2/primary")) === 200);
});

test(
  "a reload keeps sockets, connections and evidence, and forgets what is configured away",
  limit,
  async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const before = configOf({ clusters: [fixedCluster(nodes)], listen: [whole] });
    const app = appOf(context, before);
    await app.start();
    const port = portFor(app, whole);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    context.after(() => agent.destroy());
    const ask = (path: string): Promise<{ status: number; local: number; snapshot: number }> =>
      new Promise((resolve, reject) => {
        request({ port, path, agent }, (response) => {
          const local = response.socket.localPort ?? 0;
          let text = "";
          response.on("data", (piece: Buffer) => (text += piece.toString()));
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              local,
              snapshot: JSON.parse(text).rolecall?.snapshot,
            }),
          );
        })
          .on("error", reject)
          .end();
      });
    const first = await ask("/nodes/pg1/primary");
    await nodes[0]?.close();
    const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
    await app.reload(configOf({ clusters: [fixedCluster(nodes.slice(0, 1))], listen: [whole, admin] }));
    const second = await ask("/nodes/pg1/primary");
    assert.deepEqual(
      [second.status, second.local],
      [200, first.local],
      "what it last said still counts, on the same connection",
    );
    assert.ok(second.snapshot > first.snapshot);
    assert.equal((await ask("/nodes/pg2/primary")).status, 400);
    assert.equal((await fetch(`http://127.0.0.2:${portFor(app, admin)}/livez`)).status, 200);
    await app.reload(before);
    assert.equal(app.doors.length, 1);
  },
);

test("a reload that cannot open a listener changes nothing at all, and is counted", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const taken = createServer();
  const takenPort = await listenDuringTest(context, taken);
  const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
  const app = appOf(context, configOf({ clusters: [fixedCluster(nodes)], listen: [whole, admin] }));
  await app.start();
  const bad = configOf({
    clusters: [fixedCluster(nodes.slice(0, 1), { name: "other", scope: "other" })],
    listen: [listenerOf({ address: "127.0.0.3" }), listenerOf({ port: takenPort })],
  });
  await assert.rejects(
    app.reload(bad),
    (error: unknown) => error instanceof ListenError && error.code === "EADDRINUSE",
  );
  assert.deepEqual(
    app.doors.map(({ config }) => config.address),
    ["127.0.0.1", "127.0.0.2"],
  );
  assert.equal(await status(portFor(app, whole), "/clusters/demo/nodes/pg1/primary"), 200);
  assert.equal(await status(portFor(app, whole), "/clusters/other/nodes/pg1/primary"), 400);
  const metrics = await (await fetch(`http://127.0.0.2:${portFor(app, admin)}/metrics`)).text();
  assert.match(metrics, /rolecall_reloads_total\{outcome="refused"\} 1/);
});

test("listeners that take any free port are each their own, and stay over a reload", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const listeners = [whole, listenerOf({ dialect: "admin" }), listenerOf({ cluster: "demo", node: "pg1" })];
  const config = configOf({ clusters: [fixedCluster(nodes)], listen: listeners });
  const app = appOf(context, config);
  await app.start();
  const ports = app.doors.map(({ port }) => port);
  assert.equal(new Set(ports).size, 3);
  const asked = async (path: string): Promise<readonly number[]> =>
    Promise.all(ports.map((port) => status(port, path)));
  assert.deepEqual(await asked("/primary?lagg=1"), [400, 404, 200]);
  await app.reload(config);
  assert.deepEqual(
    app.doors.map(({ port }) => port),
    ports,
  );
  assert.deepEqual(await asked("/metrics"), [403, 200, 403]);
  await app.stop({ drains: false });
  for (const port of ports) await assert.rejects(status(port, "/livez"));
});

test("while it drains it is not ready and answers go on; a second call ends it at once", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const app = appOf(context, { ...configOf({ clusters: [fixedCluster(nodes)], listen: [whole] }), drainMs: 600_000 });
  await app.start();
  const port = portFor(app, whole);
  void app.stop({ drains: true });
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).statusText, "draining");
  assert.equal(await status(port, "/nodes/pg1/primary"), 200);
  await app.stop({ drains: false });
  await assert.rejects(fetch(`http://127.0.0.1:${port}/livez`));
});

test("members that were discovered are known again when every seed is down", limit, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-app-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const stateFile = join(folder, "members.json");
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const config = quick({
    ...configOf({ clusters: [clusterOf({ discover: [nodes[0]?.api ?? ""] })], listen: [whole] }),
    stateFile,
  });
  const first = appOf(context, config);
  await first.start();
  await first.stop({ drains: false });
  assert.match(readFileSync(stateFile, "utf8"), /pg2/);
  await nodes[0]?.close();
  const second = appOf(context, config);
  await second.start();
  const port = portFor(second, whole);
  await until("pg2 fit as a replica", async () => (await status(port, "/nodes/pg2/replica")) === 200);
  assert.equal(await status(port, "/nodes/pg1/primary"), 503);
});

test("a node that pours garbage, or a gigabyte, is down, and others are not touched by it", limit, async (context) => {
  const [pg1] = await openFakeCluster(context, ["pg1"]);
  assert.ok(pg1 !== undefined);
  const odd = createServer((message, response) => {
    const piece = Buffer.alloc(65_536, "[");
    const pour = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    if (message.url === "/leader") pour();
    response.on("drain", pour);
  });
  const oddPort = await listenDuringTest(context, odd);
  const clusters = [
    clusterOf({
      nodes: [nodeOf({ name: "pg1", api: pg1.api }), nodeOf({ name: "pg2", api: `http://127.0.0.1:${oddPort}` })],
    }),
  ];
  const app = appOf(context, quick(configOf({ clusters, listen: [whole] })));
  await app.start();
  const port = portFor(app, whole);
  await until(
    "pg2 down as its answer is too large",
    async () => (await fetch(`http://127.0.0.1:${port}/nodes/pg2/replica`)).statusText === "down too_large",
  );
  assert.equal(await status(port, "/nodes/pg1/primary"), 200);
});

test(
  "a change of role, verdict or reachability is one line of the log, and nothing else is",
  limit,
  async (context) => {
    const lines: { level: number; msg: string; node?: string }[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const app = appOf(
      context,
      quick({ ...configOf({ clusters: [fixedCluster(nodes)], listen: [whole] }), log: { level: "info" } }),
      log,
    );
    await app.start();
    const told = (): readonly string[] => lines.map(({ msg, node }) => `${node} ${msg}`);
    await until("twenty requests", () => (nodes[0]?.requests.length ?? 0) > 20);
    assert.deepEqual([...told()].sort(), ["pg1 node seen", "pg2 node seen"]);
    await nodes[1]?.close();
    await until("a line that pg2 does not answer", () => told().includes("pg2 node does not answer"));
    await nodes[1]?.open();
    await until("a line that pg2 answers again", () => told().includes("pg2 node answers again"));
    for (const node of nodes) node.leader = "pg2";
    await until(
      "both role changes in the log",
      () => told().includes("pg2 role changed") && told().includes("pg1 role changed"),
    );
  },
);
