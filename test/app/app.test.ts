import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes, statusOf, whole } from "./app-fixture.ts";

test("opens health listeners after the first round, so that their first answer is right", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const app = appOf(context, configOf({ clusters: [clusterOf({ discover: [nodes[1]?.api ?? ""] })], listen: [whole] }));
  await app.start();
  const port = portFor(app, whole);
  assert.equal(await statusOf(port, "/nodes/pg1/primary"), 200);
  assert.equal(await statusOf(port, "/nodes/pg2/replica"), 200);
  assert.equal(await statusOf(port, "/nodes/pg3/primary"), 503);
  assert.equal(await statusOf(port, "/readyz"), 200);
});

test("opens the admin listener before the first round, and is not ready until then", limit, async (context) => {
  const hanging = createServer(() => {});
  const hangingPort = await listenDuringTest(context, hanging);
  const admin = listenerOf({ dialect: "admin", address: "127.0.0.2" });
  const clusters = [clusterOf({ nodes: [nodeOf({ name: "pg1", api: `http://127.0.0.1:${hangingPort}` })] })];
  const app = appOf(context, configOf({ clusters, listen: [whole, admin] }));
  const starting = app.start();
  await until("an open listener", () => app.listeners.length === 1);
  const base = `http://127.0.0.2:${portFor(app, admin)}`;
  assert.deepEqual(
    [(await fetch(`${base}/livez`)).status, (await fetch(`${base}/readyz`)).statusText],
    [200, "starting"],
  );
  await starting;
  assert.equal(app.listeners.length, 2);
  assert.equal((await fetch(`${base}/readyz`)).statusText, "blind");
  // The start waits for one timeout, and the probe ends with its own.
  for (const series of [
    'rolecall_node_up{cluster="demo",node="pg1"} 0',
    'rolecall_probes_total{cluster="demo",node="pg1",question="leader",outcome="timeout"} 1',
  ])
    await until(series, async () => (await (await fetch(`${base}/metrics`)).text()).includes(`\n${series}\n`));
  assert.equal((await fetch(`${base}/primary`)).status, 404);
  const { listeners } = (await (await fetch(`${base}/livez`)).json()) as { listeners: readonly { port: number }[] };
  assert.deepEqual(
    listeners.map(({ port }) => port),
    [portFor(app, admin)],
    "`whole` is open at another address",
  );
  assert.equal((await fetch(`${base}/metrics`, { method: "POST" })).status, 405);
});

test("answers and is not ready while it drains; a second stop ends it at once", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const app = appOf(context, { ...configOf({ clusters: [fixedCluster(nodes)], listen: [whole] }), drainMs: 600_000 });
  await app.start();
  const port = portFor(app, whole);
  void app.stop({ drains: true });
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).statusText, "draining");
  assert.equal(await statusOf(port, "/nodes/pg1/primary"), 200);
  await app.stop({ drains: false });
  await assert.rejects(fetch(`http://127.0.0.1:${port}/livez`));
});

test("a member that a reload forgets is not in the state file any more", limit, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-app-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const stateFile = join(folder, "members.json");
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const discover = [nodes[0]?.api ?? "", nodes[1]?.api ?? ""];
  const config = withQuickProbes({ ...configOf({ clusters: [clusterOf({ discover })], listen: [whole] }), stateFile });
  const app = appOf(context, config);
  await app.start();
  await until("the members are saved", () => savedIn(stateFile).includes('"pg3"'));
  const members = new Map(nodes.slice(0, 2).map(({ name, api }) => [name, api]));
  for (const node of nodes) node.members = members;
  await nodes[2]?.close();
  const known = nodes.map(({ requests }) => requests.length);
  const isListed = (): boolean =>
    nodes.slice(0, 2).every(({ requests }, at) => requests.slice(known[at]).filter(isList).length > 1);
  await until("the list without pg3 was read", isListed);
  await app.apply(config);
  await until("pg3 is forgotten", () => !savedIn(stateFile).includes('"pg3"'));
});

function isList(request: string): boolean {
  return request.includes("/cluster");
}

function savedIn(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

test("knows discovered members after a restart while every seed is down", limit, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-app-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const stateFile = join(folder, "members.json");
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const config = withQuickProbes({
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
  await until("pg2 fit as a replica", async () => (await statusOf(port, "/nodes/pg2/replica")) === 200);
  assert.equal(await statusOf(port, "/nodes/pg1/primary"), 503);
});
