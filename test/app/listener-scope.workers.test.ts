import assert from "node:assert/strict";
import { test } from "node:test";
import type { BalancerConfig } from "../../src/core/config/model/config.ts";
import type { ListenerConfig } from "../../src/core/config/model/config.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { configOf, haproxyBackendOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { sendRequest, type HttpAnswer, type RequestParts } from "../fake/http-request.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes } from "./app-fixture.ts";
import { workerCounts } from "../fake/worker-counts.ts";

const json = { "content-type": "application/json" };

test("drains of other clusters are no matter of a listener with a cluster", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const own = listenerOf({ dialect: "admin", cluster: "demo", access: unrestrictedAccess });
  const all = listenerOf({ dialect: "admin", address: "127.0.0.2", access: unrestrictedAccess });
  const other = { ...fixedCluster(nodes), name: "other" };
  const clusters = [fixedCluster(nodes), other];
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [own, all] })));
  await app.start();
  const send = (listener: typeof own, path: string, parts?: RequestParts): Promise<HttpAnswer> =>
    sendRequest(`http://${listener.address}:${portFor(app, listener)}${path}`, parts);
  const begin = { method: "POST", headers: json, body: { for: "1h", reason: "disk" } };
  assert.equal((await send(all, "/drains/other/pg1", begin)).status, 200);
  assert.equal((await send(own, "/drains/demo/pg2", begin)).status, 200);
  for (const method of ["POST", "DELETE"]) {
    const refused = await send(own, "/drains/other/pg1", { ...begin, method });
    assert.equal(refused.status, 404, method);
    assert.match(refused.body, /unknown_cluster.*it must be one of demo"/);
  }
  const drained = async (listener: typeof own): Promise<readonly string[]> =>
    JSON.parse((await send(listener, "/drains")).body).drains.map(({ cluster }: { cluster: string }) => cluster);
  assert.deepEqual([await drained(own), await drained(all)], [["demo"], ["demo", "other"]]);
});

for (const workers of workerCounts)
  test(
    `/edges and /snapshot of a listener with a cluster show no other, with ${workers} workers`,
    limit,
    async (context) => {
      const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
      const own = listenerOf({ dialect: "admin", cluster: "demo", access: unrestrictedAccess });
      const all = listenerOf({ dialect: "admin", address: "127.0.0.2", access: unrestrictedAccess });
      const ofOther = listenerOf({ cluster: "other", address: "127.0.0.3" });
      const clusters = [fixedCluster(nodes), { ...fixedCluster(nodes), name: "other" }];
      const haproxy = (name: string, cluster: string): BalancerConfig => {
        const backend = haproxyBackendOf({ name: `w_${cluster}`, cluster });
        return {
          name,
          haproxy: { socket: { path: "/no/such/socket" }, zone: null, cutSessions: false, backends: [backend] },
        };
      };
      const balancers = [haproxy("lb1", "demo"), haproxy("lb2", "other")];
      const listen = [own, all, listenerOf({ address: "127.0.0.4" }), ofOther];
      const app = appOf(context, withQuickProbes(configOf({ clusters, listen, balancers, workers })));
      await app.start();
      const read = async (listener: ListenerConfig, path: string): Promise<HttpAnswer> =>
        sendRequest(`http://${listener.address}:${portFor(app, listener)}${path}`);
      const health = app.listeners.find(({ config }) => config.address === "127.0.0.4");
      for (const cluster of ["demo", "other"]) {
        const headers = { "x-haproxy-server-state": `UP; name=w_${cluster}/pg1` };
        await sendRequest(`http://127.0.0.4:${health?.port}/clusters/${cluster}/nodes/pg1/primary`, { headers });
      }
      const ends = [
        [own, ["demo"], ["lb1"], ["127.0.0.1", "127.0.0.2", "127.0.0.4"]],
        [all, ["demo", "other"], ["lb1", "lb2"], ["127.0.0.1", "127.0.0.2", "127.0.0.4", "127.0.0.3"]],
      ] as const;
      for (const [listener, shown, pushed, addresses] of ends) {
        const edges = JSON.parse((await read(listener, "/edges")).body);
        assert.equal(edges.cluster, listener.cluster);
        assert.deepEqual(edges.backends.map(({ cluster }: { cluster: string }) => cluster).toSorted(), shown);
        assert.deepEqual(
          edges.balancers.map(({ balancer }: { balancer: string }) => balancer),
          pushed,
        );
        assert.deepEqual(
          edges.listeners.map(({ address }: { address: string }) => address),
          addresses,
        );
        const snapshot = JSON.parse((await read(listener, "/snapshot")).body);
        assert.deepEqual(Object.keys(snapshot.clusters), shown);
        assert.equal((await read(listener, "/snapshot?cluster=other")).status, listener === all ? 200 : 400);
        assert.equal((await read(listener, "/snapshot?cluster=demo")).status, 200);
      }
      assert.equal((await read(own, "/snapshot?cluster=other")).body.includes('one of demo"'), true);
    },
  );
