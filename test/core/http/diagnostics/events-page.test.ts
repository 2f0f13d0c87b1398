import assert from "node:assert/strict";
import { test } from "node:test";
import { appOf, fixedCluster, limit, portFor, withQuickProbes } from "../../../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf } from "../../../fake/config.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { until } from "../../../fake/until.ts";

test("serves the newest events of the listener's clusters, the newest last", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const demo = fixedCluster(nodes);
  const other = clusterOf({ name: "other", scope: "demo", nodes: demo.nodes });
  const listen = [
    listenerOf({ dialect: "admin" }),
    listenerOf({ address: "127.0.0.2", cluster: "other", operatorPages: true }),
  ];
  const app = appOf(context, withQuickProbes(configOf({ clusters: [demo, other], listen })));
  await app.start();
  const [admin, health] = listen.map(({ address }) => {
    const port = app.listeners.find(({ config }) => config.address === address)?.port;
    return `http://${address}:${port}`;
  });
  const get = async (path: string, base = admin): Promise<{ status: number; page: Record<string, unknown> }> => {
    const { status, body } = await sendRequest(`${base}${path}`);
    return { status, page: JSON.parse(body) as Record<string, unknown> };
  };
  await until("a primary of both", async () => {
    const { body } = await sendRequest(`${admin}/metrics`);
    return body.match(/^rolecall_cluster_has_primary\{.*\} 1$/gm)?.length === 2;
  });
  for (const node of nodes) node.fields = { pause: true };
  const kinds = async (path: string, base = admin): Promise<readonly string[]> => {
    const { page } = await get(path, base);
    return (page["events"] as { kind: string; cluster: string }[])
      .filter(({ kind }) => kind !== "started")
      .map(({ kind, cluster }) => `${cluster} ${kind}`);
  };
  await until("both paused", async () => (await kinds("/events")).length === 2);
  for (const node of nodes) node.fields = {};
  await until("both resumed", async () => (await kinds("/events")).length === 4);
  const { page } = await get("/events?limit=3");
  const events = page["events"] as { at: string }[];
  assert.deepEqual([page["more"], events.length], [true, 3]);
  assert.match(String(page["oldest"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    events.map(({ at }) => at).toSorted(),
    events.map(({ at }) => at),
  );
  assert.deepEqual(await kinds("/events", health), ["other paused", "other resumed"], "a bound listener shows its own");
  assert.deepEqual(await kinds("/clusters/demo/events?kind=paused"), ["demo paused"]);
  assert.deepEqual(await kinds("/nodes/pg1/events"), []);
  assert.deepEqual(await kinds("/events?node=demo/pg2"), []);
  for (const [path, message] of [
    ["/events?cluster=deom", 'Cannot read parameter cluster: it must be one of demo, other, got "deom"'],
    ["/events?cluster=demo&node=pg9", 'Cannot read parameter node: it must be one of pg1, pg2, got "pg9"'],
    [
      "/clusters/demo/events?cluster=other",
      'Cannot read parameter cluster: it must be demo, as the path says, got "other"',
    ],
    ["/events?limit=x", 'Cannot read parameter limit: it must be a number from 1 to 1000, got "x"'],
  ] as const) {
    const refused = await get(path);
    assert.deepEqual([refused.status, refused.page["message"]], [400, message]);
  }
  const bound = await get("/events?cluster=demo", health);
  assert.equal(bound.status, 400, "and knows no other cluster");
  assert.equal((await sendRequest(`${admin}/events`, { method: "POST" })).status, 405);
  assert.ok(portFor(app, listenerOf({ dialect: "admin" })) > 0);
});
