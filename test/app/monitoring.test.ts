import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { pino } from "pino";
import { clusterOf, configOf, nodeOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes, statusOf, whole } from "./app-fixture.ts";
import { version } from "../../src/core/config/version.ts";

test("follows a switchover, a node that fails and one that recovers", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [whole] })));
  await app.start();
  const port = portFor(app, whole);
  for (const node of nodes) node.leader = "pg2";
  await until("pg2 fit as the primary", async () => (await statusOf(port, "/nodes/pg2/primary")) === 200);
  assert.equal(await statusOf(port, "/nodes/pg1/primary"), 503);
  await nodes[1]?.close();
  await until(
    "pg2 down",
    async () => (await fetch(`http://127.0.0.1:${port}/nodes/pg2/primary`)).statusText === "down refused",
  );
  await nodes[1]?.open();
  await until("pg2 fit as the primary again", async () => (await statusOf(port, "/nodes/pg2/primary")) === 200);
});

test("treats a node that sends garbage or endless data as down, without effect on others", limit, async (context) => {
  const [pg1] = await openFakeCluster(context, ["pg1"]);
  assert.ok(pg1 !== undefined);
  const faulty = createServer((message, response) => {
    const piece = Buffer.alloc(65_536, "[");
    const send = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    if (message.url === "/leader") send();
    response.on("drain", send);
  });
  const faultyPort = await listenDuringTest(context, faulty);
  const clusters = [
    clusterOf({
      nodes: [nodeOf({ name: "pg1", api: pg1.api }), nodeOf({ name: "pg2", api: `http://127.0.0.1:${faultyPort}` })],
    }),
  ];
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [whole] })));
  await app.start();
  const port = portFor(app, whole);
  await until(
    "pg2 down as its answer is too large",
    async () => (await fetch(`http://127.0.0.1:${port}/nodes/pg2/replica`)).statusText === "down too_large",
  );
  assert.equal(await statusOf(port, "/nodes/pg1/primary"), 200);
});

test("logs one line for each event and each other change of a node, and nothing else", limit, async (context) => {
  const lines: { level: number; msg: string; node?: string }[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const app = appOf(
    context,
    withQuickProbes({
      ...configOf({ clusters: [fixedCluster(nodes)], listen: [whole] }),
      log: { level: "info", format: "json" },
    }),
    { log },
  );
  await app.start();
  // A machine that stalls during the test gets a line about that too: it is about the machine, not about a node.
  const isStall = (msg: string): boolean => msg.startsWith("clock gap detected");
  const logged = (): readonly string[] =>
    lines.filter(({ msg }) => !isStall(msg)).map(({ msg, node }) => `${node} ${msg}`);
  await until("twenty requests", () => (nodes[0]?.requests.length ?? 0) > 20);
  assert.deepEqual([...logged()].sort(), [
    "pg1 node seen",
    "pg2 node seen",
    `undefined rolecall ${version()} started to monitor demo`,
  ]);
  await nodes[1]?.close();
  await until("a line that pg2 is down", () =>
    logged().includes("pg2 pg2 of demo is down: connection refused (3 probes in a row failed)"),
  );
  assert.ok(logged().includes("pg2 node does not answer"));
  await nodes[1]?.open();
  await until("a line that pg2 answers again", () =>
    logged().some((line) => line.startsWith("pg2 pg2 of demo answers again after")),
  );
  for (const node of nodes) node.leader = "pg2";
  await until(
    "the new primary and the role change of the old one in the log",
    () => logged().includes("pg2 pg2 is the new primary of demo (was pg1)") && logged().includes("pg1 role changed"),
  );
});
