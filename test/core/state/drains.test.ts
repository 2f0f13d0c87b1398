import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { App } from "../../../src/app/app.ts";
import type { DrainOutcome } from "../../../src/core/cluster/outcome.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { DrainChange } from "../../../src/core/cluster/drain.ts";
import { Drains } from "../../../src/core/state/drains.ts";
import { drainEvent } from "../../../src/core/events/announced-events.ts";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";
import { Store } from "../../../src/core/state/store.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { setSystemTimer } from "../../../src/core/probe/schedule/system-timer.ts";
import { clusterOf, configOf, guardsOff, listenerOf } from "../../fake/config.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

let simulator: Simulator;
let config: Config;
let app: App;
const stateFile = join(temporaryFolder("drains"), "state.json");

before(async () => {
  simulator = await startSimulator({ nodes: 3, port: 0 });
  config = configOf({
    clusters: [clusterOf({ discover: simulator.nodes.map(({ url }) => url), guards: guardsOff })],
    listen: [listenerOf({ cluster: "demo" }), listenerOf({ address: "127.0.0.2", dialect: "admin" })],
    stateFile,
  });
  app = new App(config, silentLogger);
  await app.start();
});

after(async () => {
  await app.stop({ drains: false });
  await simulator.stop();
});

function urlOf(dialect: "node" | "admin", path: string): string {
  const listener = app.listeners.find((candidate) => candidate.config.dialect === dialect);
  assert.ok(listener);
  return `http://${listener.config.address}:${listener.port}${path}`;
}

async function call(
  method: string,
  path: string,
  body: unknown,
  type = "application/json",
): Promise<{ status: number; body: Record<string, unknown> }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(urlOf("admin", path), { method, body: text, headers: { "Content-Type": type } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const wish = { for: "30min", reason: "kernel upgrade", by: "operator" };

test("begins, shows, applies and ends a drain through the admin listener", async () => {
  assert.equal((await fetch(urlOf("node", "/nodes/pg2/replica"))).status, 200);
  const begun = await call("POST", "/drains/demo/pg2", wish);
  assert.equal(begun.status, 200);
  const refused = await fetch(urlOf("node", "/nodes/pg2/replica"));
  assert.equal(refused.headers.get("x-rolecall-reason"), "drained");
  assert.equal(refused.statusText, "drained kernel upgrade");
  const { drains } = (await (await fetch(urlOf("admin", "/drains"))).json()) as { drains: Record<string, unknown>[] };
  assert.equal(drains.length, 1);
  assert.equal(drains[0]?.["reason"], "kernel upgrade");
  assert.equal((await call("DELETE", "/drains/demo/pg2", { by: "operator" })).status, 200);
  assert.equal((await fetch(urlOf("node", "/nodes/pg2/replica"))).status, 200);
  assert.equal((await call("DELETE", "/drains/demo/pg2", {})).status, 404);
});

const refusals: readonly (readonly [string, number, string, string, unknown, string?])[] = [
  [
    "a form body, as a web page could send it",
    415,
    "POST",
    "/drains/demo/pg2",
    "for=30min",
    "application/x-www-form-urlencoded",
  ],
  ["no duration", 400, "POST", "/drains/demo/pg2", { reason: "x" }],
  ["a duration without a unit", 400, "POST", "/drains/demo/pg2", { ...wish, for: "30" }],
  ["a duration above thirty days", 400, "POST", "/drains/demo/pg2", { ...wish, for: "31d" }],
  ["no reason", 400, "POST", "/drains/demo/pg2", { for: "1h" }],
  ["a reason on two lines", 400, "POST", "/drains/demo/pg2", { ...wish, reason: "a\r\nb" }],
  ["a value of distrust that is not boolean", 400, "POST", "/drains/demo/pg2", { ...wish, distrust: "yes" }],
  ["the end of a distrust of a node that is not distrusted", 404, "DELETE", "/drains/demo/pg2", { distrust: true }],
  ["a value of all that is not boolean", 400, "POST", "/drains/demo/pg2", { ...wish, all: "yes" }],
  ["an array instead of an object", 400, "POST", "/drains/demo/pg2", []],
  ["broken JSON", 400, "POST", "/drains/demo/pg2", "{"],
  ["a body above the limit", 413, "POST", "/drains/demo/pg2", { ...wish, filler: "x".repeat(20_000) }],
  ["an unknown cluster", 404, "POST", "/drains/other/pg2", wish],
  ["an unknown node", 404, "POST", "/drains/demo/pg9", wish],
  ["no node", 404, "POST", "/drains/demo", wish],
  ["another method", 405, "PUT", "/drains/demo/pg2", wish],
];
for (const [name, status, method, path, body, type] of refusals) {
  test(`rejects a drain with ${name}: ${status}`, async () => {
    assert.equal((await call(method, path, body, type)).status, status);
    assert.deepEqual(await (await fetch(urlOf("admin", "/drains"))).json(), { drains: [] });
  });
}

test("distrusts a node, whose drains cannot be changed meanwhile, and keeps that over a restart", async () => {
  const begun = await call("POST", "/drains/demo/pg2", { ...wish, distrust: true });
  assert.equal(begun.status, 200);
  const { drain } = begun.body as { drain: Record<string, unknown> };
  assert.deepEqual([drain["all"], drain["distrust"]], [true, true]);
  const reasonOf = async (route: string): Promise<string | null> =>
    (await fetch(urlOf("node", `/nodes/pg2/${route}`))).headers.get("x-rolecall-reason");
  for (const route of ["replica", "read-only", "health", "primary"])
    assert.equal(await reasonOf(route), "distrusted", route);
  assert.equal(await reasonOf("liveness"), null);
  for (const [method, body] of [
    ["POST", wish],
    ["DELETE", {}],
  ] as const) {
    const refused = await call(method, "/drains/demo/pg2", body);
    assert.deepEqual([refused.status, refused.body["error"]], [409, "distrusted"], method);
  }
  await app.stop({ drains: false });
  app = new App(config, silentLogger);
  await app.start();
  assert.equal(await reasonOf("replica"), "distrusted");
  assert.equal((await call("DELETE", "/drains/demo/pg2", { distrust: true })).status, 200);
  assert.equal(await reasonOf("replica"), null);
  assert.equal((await call("DELETE", "/drains/demo/pg2", { distrust: true })).status, 404);
});

test("has no drains on a node listener", async () => {
  assert.equal((await fetch(urlOf("node", "/drains"))).status, 400);
});

test("restores a drain after a restart, but not an expired one", async () => {
  await call("POST", "/drains/demo/pg3", { ...wish, all: true });
  await call("POST", "/drains/demo/pg2", { ...wish, for: "1ms" });
  await app.stop({ drains: false });
  assert.match(readFileSync(stateFile, "utf8"), /kernel upgrade/);
  app = new App(config, silentLogger);
  await app.start();
  const { drains } = (await (await fetch(urlOf("admin", "/drains"))).json()) as { drains: Record<string, unknown>[] };
  assert.deepEqual(
    drains.map(({ node, all }) => [node, all]),
    [["pg3", true]],
  );
  const status = (await (await fetch(urlOf("admin", "/status"))).json()) as {
    clusters: { nodes: { node: string; verdicts: Record<string, string>; reason: string }[] }[];
  };
  const pg3 = status.clusters[0]?.nodes.find(({ node }) => node === "pg3");
  assert.equal(pg3?.reason, "drained");
  assert.equal(pg3.verdicts["health"], "drained");
});

test("reports each drain once: its begin, its end by an operator, and that it expired", () => {
  const changes: DrainChange[] = [];
  let nowMs = 0;
  const store = new Store("test", buildClusters(config, new Map()));
  const clock = { now: () => nowMs, wall: () => 1_800_000_000_000 + nowMs };
  const drains = new Drains(store, {
    clock,
    setTimer: setSystemTimer,
    log: silentLogger,
    record: (outcome) => store.record(outcome, nowMs),
    save: () => Promise.resolve({ kind: "volatile" }),
    onChange: (change) => void changes.push(change),
  });
  const request = { forMs: 1_000, reason: "disk swap", by: "operator", extent: "replica" as const };
  void drains.begin("demo", "pg1", request);
  void drains.begin("demo", "pg2", request);
  void drains.end("demo", "pg2", "the night shift");
  nowMs = 999;
  drains.sweep();
  nowMs = 1_000;
  void drains.begin("demo", "pg3", request);
  drains.sweep();
  drains.stop();
  assert.deepEqual(
    changes.map(({ kind, node, endedBy, drain: { reason, by, until } }) => [kind, node, endedBy, reason, by, until]),
    [
      ["begun", "pg1", null, "disk swap", "operator", "2027-01-15T08:00:01.000Z"],
      ["begun", "pg2", null, "disk swap", "operator", "2027-01-15T08:00:01.000Z"],
      ["ended", "pg2", "the night shift", "disk swap", "operator", "2027-01-15T08:00:01.000Z"],
      ["expired", "pg1", null, "disk swap", "operator", "2027-01-15T08:00:01.000Z"],
      ["begun", "pg3", null, "disk swap", "operator", "2027-01-15T08:00:02.000Z"],
    ],
  );
  assert.deepEqual([...(store.current.clusters[0]?.drains.keys() ?? [])], ["pg3"]);
});

test("the events of a distrust are its own", () => {
  const drain = { ...wish, extent: "distrust" as const, untilMs: 1, since: "", until: "2026-01-31T12:00:00Z" };
  const change = { cluster: "demo", node: "pg2", drain, endedBy: null };
  assert.deepEqual(
    (["begun", "ended", "expired"] as const).map((kind) => {
      const event = drainEvent({ ...change, kind });
      return [event.kind, event.severity, event.message];
    }),
    [
      [
        "distrusted",
        "warning",
        "pg2 of demo is distrusted, and what it states counts for nothing, until 2026-01-31T12:00:00Z: kernel upgrade",
      ],
      ["trusted", "info", "pg2 of demo is no longer distrusted: ended"],
      ["trusted", "info", "pg2 of demo is no longer distrusted: its time is over"],
    ],
  );
});

test("restores saved drains when it starts, and reads and schedules nothing before", () => {
  const nowMs = 5_000;
  const wallMs = 1_800_000_000_000;
  const store = new Store("test", buildClusters(config, new Map()));
  const clock = { now: () => nowMs, wall: () => wallMs };
  const recorded: DrainOutcome[] = [];
  const drains = new Drains(store, {
    clock,
    setTimer: setSystemTimer,
    log: silentLogger,
    record: (outcome) => void recorded.push(outcome),
    save: () => assert.fail("a restored drain is saved"),
    onChange: () => assert.fail("a restored drain is not new"),
  });
  assert.equal(recorded.length, 0);
  const saved = { cluster: "demo", reason: "disk swap", by: null, extent: "replica" as const, untilMs: null };
  const since = new Date(wallMs - 60_000).toISOString();
  drains.start([
    { ...saved, node: "pg1", since, until: new Date(wallMs + 1_000).toISOString() },
    { ...saved, node: "pg2", since, until: new Date(wallMs).toISOString() },
    // The machine has not booted since: its boot clock decides, and the wall clock was set.
    { ...saved, node: "pg3", since, until: new Date(wallMs - 30_000).toISOString(), untilMs: nowMs + 2_000 },
  ]);
  drains.stop();
  assert.deepEqual(
    recorded.map(({ node, drain }) => [node, drain?.untilMs]),
    [
      ["pg1", nowMs + 1_000],
      ["pg3", nowMs + 2_000],
    ],
  );
});
