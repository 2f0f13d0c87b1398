/** The parts that see and announce a failover sooner, over reloads and beside workers. */
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test, type TestContext } from "node:test";
import type { BalancerConfig } from "../../src/core/config/model/config.ts";
import type { Config, DcsConfig, ListenerConfig } from "../../src/core/config/model/config.ts";
import { configOf, haproxyBackendOf, listenerOf } from "../fake/config.ts";
import { FakeEtcd } from "../fake/fake-etcd.ts";
import { FakeHaproxy } from "../fake/fake-haproxy.ts";
import { openFakeCluster, type FakeNode } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { startWithSocket } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, statusOf, whole } from "./app-fixture.ts";

const leaderKey = "/service/demo/leader";

function dcsOf(etcd: FakeEtcd, parts: Partial<DcsConfig> = {}): DcsConfig {
  return { etcd: [etcd.url], prefix: "/service", scope: null, tls: null, auth: null, ...parts };
}

async function startEtcd(context: TestContext): Promise<FakeEtcd> {
  const etcd = await FakeEtcd.start();
  etcd.put(leaderKey, "pg1");
  context.after(() => etcd.close());
  return etcd;
}

suite("the parts of a failover over reloads", () => {
  test("a watched DCS comes, changes and goes", limit, async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const [etcd, other] = [await startEtcd(context), await startEtcd(context)];
    const of = (dcs: DcsConfig | null): Config =>
      configOf({ clusters: [fixedCluster(nodes, { dcs })], listen: [whole], workers: 2 });
    const app = appOf(context, of(null));
    await app.start();
    const answers = (status: number): Promise<true> =>
      until(`${status} for pg1`, async () => {
        return (await statusOf(portFor(app, whole), "/nodes/pg1/primary")) === status || undefined;
      });
    await answers(200);
    assert.deepEqual(etcd.calls, [], "without the key nothing is watched");

    await app.apply(of(dcsOf(etcd)));
    await until("one watch", () => etcd.watchCount === 1);
    etcd.put(leaderKey, "pg2");
    await answers(503);
    const calls = etcd.calls.filter((path) => path === "/v3/watch").length;
    await app.apply({ ...of(dcsOf(etcd)), drainMs: 1 });
    assert.equal(etcd.calls.filter((path) => path === "/v3/watch").length, calls, "an unchanged watch goes on");
    await answers(503);

    await app.apply(of(dcsOf(other)));
    await until("the watch of the other", () => etcd.watchCount === 0 && other.watchCount === 1);
    await answers(200); // the first read of another DCS withdraws nothing, and keeps nothing
    other.put(leaderKey, "pg2");
    await answers(503);

    await app.apply(of(null));
    await until("the end of the watch", () => other.watchCount === 0);
    await answers(200);
    const reads = other.calls.length;
    other.put(leaderKey, "pg1");
    other.put(leaderKey, "pg2");
    await answers(200);
    assert.equal(other.calls.length, reads);
  });

  test("a balancer comes, changes and goes", limit, async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const [haproxy, other] = [new FakeHaproxy(["w/pg1", "w/pg2"]), new FakeHaproxy(["v/pg1", "v/pg2"])];
    await haproxy.listen(context);
    await other.listen(context);
    const balancer = ({ port }: FakeHaproxy, backend: string): BalancerConfig => ({
      name: "edge",
      haproxy: {
        socket: { host: "127.0.0.1", port },
        zone: null,
        cutSessions: false,
        backends: [haproxyBackendOf({ name: backend })],
      },
    });
    const of = (balancers: readonly BalancerConfig[]): Config =>
      configOf({ clusters: [fixedCluster(nodes)], listen: [whole], balancers, workers: 2 });
    const app = appOf(context, of([]));
    await app.start();
    assert.equal(haproxy.connections, 0);
    await app.apply(of([balancer(haproxy, "w")]));
    await until("the push", () => haproxy.at("w/pg1").operational === 2);
    await app.apply({ ...of([balancer(haproxy, "w")]), drainMs: 1 });
    assert.deepEqual(haproxy.commands, ["set server w/pg1 health up"], "once, by one process");

    await app.apply(of([balancer(other, "v")]));
    await until("the push to the other", () => other.at("v/pg1").operational === 2);
    const { connections } = haproxy;
    other.commands.length = 0;
    move(nodes, "pg2");
    await until("the switchover", () => other.at("v/pg2").operational === 2 && other.at("v/pg1").operational === 0);
    assert.deepEqual(other.commands.toSorted(), ["set server v/pg1 health down", "set server v/pg2 health up"]);
    assert.equal(haproxy.connections, connections, "a balancer that is gone gets nothing");

    await app.apply(of([]));
    const last = other.connections;
    move(nodes, "pg1");
    await until("the switchover", async () => (await statusOf(portFor(app, whole), "/nodes/pg1/primary")) === 200);
    assert.deepEqual([other.connections, other.commands.length], [last, 2]);
  });

  test("agent listeners come, change and go", limit, async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const port = await freePort();
    const agentOf = (query: string): ListenerConfig =>
      listenerOf({
        port,
        dialect: "agent",
        agent: { pool: null, check: { route: "replica", query }, weight: null, drainBy: "weight" },
      });
    const of = (...agents: readonly ListenerConfig[]): Config =>
      configOf({ clusters: [fixedCluster(nodes)], listen: [whole, ...agents], workers: 2 });
    const app = appOf(context, of());
    await app.start();
    await app.apply(of(agentOf("")));
    assert.equal(await ask(port, "pg2"), "up 100%\n");
    await app.apply(of(agentOf("tag_dc=a")));
    assert.equal(await ask(port, "pg2"), "up 0% # drain: tag dc\n");
    await app.apply(of());
    await assert.rejects(ask(port, "pg2"), /ECONNREFUSED/);
    await app.apply(of(agentOf("")));
    assert.equal(await ask(port, "demo/pg2"), "up 100%\n");
  });

  test("an inherited socket of an agent listener answers beside workers", limit, async (context) => {
    const [pg1] = await openFakeCluster(context, ["pg1"]);
    const socket = createServer();
    const [agent, port] = [await listenDuringTest(context, socket), await freePort()];
    const file = writeConfigFile(
      context,
      `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]
listen: [{ port: ${agent}, dialect: agent, check: /primary }, { port: ${port}, whole_cluster: true }]
workers: 2
`,
    );
    const running = startWithSocket(context, ["serve", "--config", file], socket);
    await running.waitForLog("listening", 2);
    await running.waitForLog("worker started", 2);
    // Both processes share the descriptor: this one must stop accepting.
    socket.close();
    assert.equal(await ask(agent, "pg1"), "up 100%\n");
    running.process.kill("SIGHUP");
    await running.waitForLog("reloaded");
    assert.equal(await ask(agent, "pg1"), "up 100%\n");
    running.process.kill("SIGINT");
    assert.equal(await running.exit, 0);
  });
});

/** Makes a node the only one that holds the lock. */
function move(nodes: readonly FakeNode[], leader: string): void {
  for (const node of nodes) node.leader = leader;
}

/** Sends one line to an agent listener. @throws the error of the connection */
async function ask(port: number, line: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${line}\n`);
  return text(socket);
}
