import assert from "node:assert/strict";
import { Agent, createServer, request } from "node:http";
import { test } from "node:test";
import { ListenError } from "../../src/core/http/listener/listen-error.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { type FakeNode, openFakeCluster } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, statusOf, whole } from "./app-fixture.ts";

test("keeps sockets, connections and evidence over a reload, and forgets removed nodes", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const before = configOf({ clusters: [fixedCluster(nodes)], listen: [whole] });
  const app = appOf(context, before);
  await app.start();
  const port = portFor(app, whole);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  const get = (path: string): Promise<{ status: number; local: number; snapshot: number }> =>
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
  const first = await get("/nodes/pg1/primary");
  await nodes[0]?.close();
  const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
  await app.apply(configOf({ clusters: [fixedCluster(nodes.slice(0, 1))], listen: [whole, admin] }));
  const second = await get("/nodes/pg1/primary");
  assert.deepEqual(
    [second.status, second.local],
    [200, first.local],
    "its last report still counts, on the same connection",
  );
  assert.ok(second.snapshot > first.snapshot);
  assert.equal((await get("/nodes/pg2/primary")).status, 400);
  assert.equal((await fetch(`http://127.0.0.2:${portFor(app, admin)}/livez`)).status, 200);
  await app.apply(before);
  assert.equal(app.listeners.length, 1);
});

test("changes nothing in a reload that cannot open a listener, and counts it", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const taken = createServer();
  const takenPort = await listenDuringTest(context, taken);
  const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
  const bad = configOf({
    clusters: [fixedCluster(nodes.slice(0, 1), { name: "other", scope: "other" })],
    listen: [listenerOf({ address: "127.0.0.3" }), listenerOf({ port: takenPort })],
  });
  const config = configOf({ clusters: [fixedCluster(nodes)], listen: [whole, admin] });
  const app = appOf(context, config, {
    source: { file: null, load: () => ({ ok: true, config: bad, simulator: null, hasNoStateKey: true, warnings: [] }) },
  });
  await app.start();
  await assert.rejects(app.apply(bad), (error: unknown) => error instanceof ListenError && error.code === "EADDRINUSE");
  assert.match((await app.reload()) ?? "", /EADDRINUSE/);
  assert.deepEqual(
    app.listeners.map((open) => open.config.address),
    ["127.0.0.1", "127.0.0.2"],
  );
  assert.equal(await statusOf(portFor(app, whole), "/clusters/demo/nodes/pg1/primary"), 200);
  assert.equal(await statusOf(portFor(app, whole), "/clusters/other/nodes/pg1/primary"), 400);
  const metrics = await (await fetch(`http://127.0.0.2:${portFor(app, admin)}/metrics`)).text();
  assert.match(metrics, /rolecall_reloads_total\{outcome="refused"\} 1/);
});

test("opens a port for each listener with port 0, and keeps it over a reload", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const listeners = [whole, listenerOf({ dialect: "admin" }), listenerOf({ cluster: "demo", node: "pg1" })];
  const config = configOf({ clusters: [fixedCluster(nodes)], listen: listeners });
  const app = appOf(context, config);
  await app.start();
  const ports = app.listeners.map(({ port }) => port);
  assert.equal(new Set(ports).size, 3);
  const statuses = async (path: string): Promise<readonly number[]> =>
    Promise.all(ports.map((port) => statusOf(port, path)));
  assert.deepEqual(await statuses("/primary?lagg=1"), [400, 404, 200]);
  await app.apply(config);
  assert.deepEqual(
    app.listeners.map(({ port }) => port),
    ports,
  );
  assert.deepEqual(await statuses("/metrics"), [403, 200, 403]);
  await app.stop({ drains: false });
  for (const port of ports) await assert.rejects(statusOf(port, "/livez"));
});

test("a reload asks only nodes that it adds or moves", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const [pg1, pg2, pg3] = nodes;
  assert.ok(pg1 !== undefined && pg2 !== undefined && pg3 !== undefined);
  const asked = ({ requests }: FakeNode): number => requests.filter((path) => path === "/leader").length;
  const plain = configOf({ clusters: [fixedCluster([pg1, pg2])], listen: [whole] });
  // The next scheduled probe is far away.
  const config = { ...plain, probe: { ...plain.probe, intervalMs: 60_000, maxAgeMs: 300_000 } };
  const app = appOf(context, config);
  await app.start();
  await until("the round that the first leader requests", () => asked(pg1) === 2 && asked(pg2) === 2);
  await app.apply(config);
  await app.apply({ ...config, clusters: [fixedCluster(nodes, { zones: { tag: "zone" } })] });
  assert.deepEqual([pg1, pg2, pg3].map(asked), [2, 2, 1]);
  await app.apply({ ...config, clusters: [fixedCluster([pg1, pg3])] });
  await app.apply({ ...config, clusters: [fixedCluster(nodes)] });
  assert.deepEqual([pg1, pg2, pg3].map(asked), [2, 3, 1]);
  await app.apply({ ...config, probe: { ...config.probe, timeoutMs: 900 }, clusters: [fixedCluster(nodes)] });
  assert.deepEqual([pg1, pg2, pg3].map(asked), [3, 4, 2]);
});
