import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject, parseJson } from "../../src/core/cluster/values/json.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { sendRequest } from "../fake/http-request.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes } from "./app-fixture.ts";
import { workerCounts } from "../fake/worker-counts.ts";

for (const workers of workerCounts)
  test(`/status says when each node was asked for, with ${workers} workers`, limit, async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const admin = listenerOf({ dialect: "admin", access: unrestrictedAccess });
    const listen = [admin, listenerOf({ address: "127.0.0.4" })];
    const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen, workers })));
    await app.start();
    const health = app.listeners.find(({ config }) => config.address === "127.0.0.4");
    const ask = (path: string): Promise<unknown> => sendRequest(`http://127.0.0.4:${health?.port}${path}`);
    for (let times = 0; times < 10; times += 1) await ask("/nodes/pg1/primary");
    await ask("/nodes/pg9/replica");
    const { body } = await sendRequest(`http://127.0.0.1:${portFor(app, admin)}/status`);
    const status = parseJson(body);
    assert.ok(isObject(status));
    const [cluster] = status["clusters"] as readonly {
      readonly nodes: readonly {
        readonly node: string;
        readonly asked_ms_ago: number | null;
        readonly unasked: boolean;
      }[];
      readonly asked_non_members: readonly unknown[];
    }[];
    assert.deepEqual(
      cluster?.nodes.map(({ node, asked_ms_ago: agoMs, unasked }) => [node, typeof agoMs, unasked]),
      [
        ["pg1", "number", false],
        ["pg2", "object", false],
      ],
    );
    assert.deepEqual(cluster?.asked_non_members, [], "a name that was asked for once is no finding");
  });
