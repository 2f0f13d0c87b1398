import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { sendRequest, type HttpAnswer, type RequestParts } from "../fake/http-request.ts";
import { until } from "../fake/until.ts";
import { readIncident } from "../incidents/play.ts";
import { appOf, fixedCluster, limit, portFor, whole, withQuickProbes } from "./app-fixture.ts";

const admin = listenerOf({ dialect: "admin" });

interface Fixture {
  /** The port of the health listener. */
  readonly health: number;
  readonly send: (path: string, parts?: RequestParts) => Promise<HttpAnswer>;
}

async function openApp(context: TestContext): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [whole, admin] })));
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}`;
  return { health: portFor(app, whole), send: (path, parts) => sendRequest(`${url}${path}`, parts) };
}

test("keeps the lag of the last minutes for a page that is opened later", limit, async (context) => {
  const { send } = await openApp(context);
  const lag = await until("a sample", async () => {
    const answer = JSON.parse((await send("/clusters/demo/lag")).body);
    return answer.at.length > 0 && answer;
  });
  assert.deepEqual([lag.cluster, Object.keys(lag.nodes), lag.nodes.pg1], ["demo", ["pg1", "pg2"], [null]]);
  assert.equal(lag.history, false);
  const older = JSON.parse((await send("/clusters/demo/lag?since=6h")).body);
  assert.deepEqual([older.history, older.complete, older.step_ms], [false, true, 60_000]);
  assert.deepEqual([older.at.length, Object.keys(older.nodes)], [1, ["pg1", "pg2"]]);
  for (const query of ["since=30s", "since=6", "since=400d", "since=", "from=6h"])
    assert.equal((await send(`/clusters/demo/lag?${query}`)).status, 400, query);
  assert.equal((await send("/clusters/nope/lag")).status, 404);
  assert.equal((await send("/clusters/nope/lag?since=6h")).status, 404);
});

test("/clusters/{cluster}/limits names the limits for lag that checks request", limit, async (context) => {
  const { health, send } = await openApp(context);
  for (const path of ["replica?lag=1MB", "replica?lag=1MB", "nodes/pg2/async?lag_time=5s&lag=2MB", "replica"])
    await sendRequest(`http://127.0.0.1:${health}/${path}`);
  const { cluster, limits } = JSON.parse((await send("/clusters/demo/limits")).body);
  assert.equal(cluster, "demo");
  assert.deepEqual(
    limits
      .filter(({ source }: { source: string }) => source === "checks")
      .map(({ route, lag_bytes, lag_ms }: Record<string, string | number | null>) => `${route} ${lag_bytes} ${lag_ms}`)
      .sort(),
    ["async 2097152 5000", "replica 1048576 null"],
  );
  assert.equal((await send("/clusters/demo/limits", { method: "POST" })).status, 405);
  const incident = readIncident((await send("/clusters/demo/incident")).body, "demo.yaml");
  assert.deepEqual(
    incident.limits?.limits
      .filter(({ source }) => source === "checks")
      .map(({ route }) => route)
      .sort(),
    ["async", "replica"],
  );
  assert.equal((await send("/clusters/nope/limits")).status, 404);
});
