/**
 * Nodes whose API speaks TLS, then the same cluster in synchronous mode: every route answered by us as by the nodes
 * themselves.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./lab/ask.ts";
import { beside } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { Rolecall } from "./lab/rolecall.ts";
import { until } from "../fake/until.ts";
import { Stage } from "./watch/stage.ts";
import { isYes } from "./watch/timeline.ts";

const routes = [
  "/primary",
  "/replica",
  "/read-only",
  "/sync",
  "/synchronous",
  "/read-only-sync",
  "/async",
  "/asynchronous",
];
const settled = [
  ...routes,
  "/leader",
  "/health",
  "/liveness",
  "/readiness",
  "/sync?lag=1MB",
  "/async?lag=1MB",
  "/sync?tag_zone=b",
];

beside("3.0.2", "nodes over TLS, and synchronous", (command) => {
  let cluster: Cluster;
  let rolecall: Rolecall;
  let stage: Stage;

  before(async () => {
    cluster = await Cluster.start(command, true);
    rolecall = await Rolecall.start(cluster);
    stage = new Stage({ cluster, rolecall, title: "Patroni 3.0.2 over TLS", watched: routes, settled });
  });
  after(async () => {
    await rolecall?.stop();
    await cluster?.stop();
  });

  test("answers every route of every node as the node itself over TLS", async () => {
    const [node] = cluster.nodes;
    const plain = await ask({ port: node.apiPort, path: "/primary" });
    assert.equal(plain.status, 0, "the node does not answer plain HTTP");
    await stage.during("steady", () => sleep(2000));
  });

  test("reports the synchronous replica, before and after a switchover to it", async () => {
    const standby = await stage.during("synchronous mode", async () => {
      await cluster.configure({ synchronous_mode: true });
      return synchronousOne();
    });
    const others = (await cluster.replicas()).filter((node) => node !== standby);
    assert.deepEqual(await statuses(standby), { sync: 200, readOnlySync: 200, async: 503 });
    for (const other of others) assert.deepEqual(await statuses(other), { sync: 503, readOnlySync: 503, async: 200 });
    assert.deepEqual(await statuses(await cluster.leader()), { sync: 503, readOnlySync: 200, async: 503 });

    const next = await stage.during("switchover to the synchronous replica", async () => {
      await cluster.switchOver(standby);
      // Until it leads, the node that is promoted is still the synchronous one.
      await stage.changed(standby, "/primary yes", "/sync no");
      const found = await synchronousOne(standby);
      await stage.changed(found, "/sync yes", "/async no");
      return found;
    });
    assert.notEqual(next, standby);
  });

  /** The replica, other than `not`, whose own document says that it is the synchronous standby. */
  function synchronousOne(not?: PatroniNode): Promise<PatroniNode> {
    return until({ what: "synchronous replica", seconds: 30 }, async () => {
      const replies = await Promise.all(cluster.nodes.map((node) => node.ask("/sync")));
      return cluster.nodes.find((node, index) => node !== not && isYes(replies[index] ?? { status: 0 }));
    });
  }

  /** rolecall's answers to the routes for synchronous standbys. */
  async function statuses({
    name,
  }: PatroniNode): Promise<{ readonly sync: number; readonly readOnlySync: number; readonly async: number }> {
    const [sync, readOnlySync, asynchronous] = await Promise.all(
      ["/sync", "/read-only-sync", "/async"].map((route) => rolecall.ask(name, route)),
    );
    return { sync: sync?.status ?? 0, readOnlySync: readOnlySync?.status ?? 0, async: asynchronous?.status ?? 0 };
  }
});
