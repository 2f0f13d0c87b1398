/** Services of a whole process: what its probes say of nodes is what the slices say, over changes, reloads and its end. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import pino from "pino";
import type { App } from "../../../src/app/app.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { listOf, objectOf } from "../../../src/core/cluster/values/json.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { appOf } from "../../app/app-fixture.ts";
import { runText } from "../../fake/command-line.ts";
import { FakeApiServer } from "../../fake/fake-api-server.ts";
import { type FakeNode, openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

interface Fixture {
  readonly app: App;
  readonly server: FakeApiServer;
  readonly nodes: readonly FakeNode[];
  /** The lines of the log, as text. */
  readonly lines: string[];
  /** @param ofCluster further keys of the cluster */
  readonly config: (services?: string, ofCluster?: string) => Config;
  /** Waits until this is published of a Service, as `10.0.0.1 ready, 10.0.0.2 serving`. */
  readonly published: (expected: string, service?: string) => Promise<unknown>;
  readonly said: (service?: string) => string;
  readonly writes: () => number;
  /** Reads a document of the admin listener. */
  readonly get: (path: string) => Promise<string>;
  /** What a command prints that asks the admin listener. */
  readonly run: (...command: readonly string[]) => Promise<string>;
}

/** @param changed changes the server before the start */
async function start(context: TestContext, changed: (server: FakeApiServer) => void = () => {}): Promise<Fixture> {
  const [nodes, server, port, adminPort] = [
    await openFakeCluster(context, ["pg1", "pg2"]),
    await FakeApiServer.open(context),
    await freePort(),
    await freePort(),
  ];
  for (const name of ["orders", "orders-ro"])
    server.put("services", { metadata: { name }, spec: { ports: [{ name: "postgres", port: 5432 }] } });
  changed(server);
  const file = join(temporaryFolder("kubernetes"), "rolecall.yaml");
  const rows = nodes.map(
    ({ name, api }) => `{ name: ${name}, api: "${api}", database: "10.0.0.${name.slice(2)}:5432" }`,
  );
  const kubeconfig = server.kubeconfig();
  const both = "{ pool: writes, service: databases/orders }, { pool: reads, service: databases/orders-ro }";
  const config: Fixture["config"] = (services = both, ofCluster = "") => {
    writeFileSync(
      file,
      `
clusters: [{ name: demo, nodes: [${rows.join()}]${ofCluster} }]
probe: { interval: 100ms, cluster_interval: 100ms }
pools: [{ name: writes, cluster: demo, check: /primary }, { name: reads, cluster: demo, check: /replica }]
kubernetes: { kubeconfig: ${kubeconfig}, instance: edge-1, services: [${services}] }
listen: [{ port: ${port} }, { port: ${adminPort}, dialect: admin }]
`,
    );
    const loaded = loadConfig({ file, env: {}, flags: {} });
    assert.ok(loaded.ok, JSON.stringify(loaded));
    return loaded.config;
  };
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const app = appOf(context, config(), { log });
  await app.start();
  const said: Fixture["said"] = (service = "orders") =>
    server
      .objects("endpointslices")
      .filter(({ metadata }) => objectOf(objectOf(metadata)["labels"])["kubernetes.io/service-name"] === service)
      .flatMap(({ endpoints }) => listOf(endpoints).map(objectOf))
      .map(({ addresses, conditions }) => {
        const { ready, serving } = objectOf(conditions);
        return `${listOf(addresses).join()} ${ready === true ? "ready" : serving === true ? "serving" : "out"}`;
      })
      .join(", ");
  return {
    app,
    server,
    nodes,
    lines,
    config,
    said,
    get: async (path) => (await fetch(`http://127.0.0.1:${adminPort}${path}`)).text(),
    run: async (...command) => (await runText([...command, "--server", `http://127.0.0.1:${adminPort}`])).out,
    published: (expected, service) =>
      until(
        { what: expected, evidence: () => `${said(service)}\n${lines.join("")}` },
        () => said(service) === expected,
      ),
    writes: () =>
      server.calls.filter(
        ({ verb, resource }) => resource === "endpointslices" && (verb === "patch" || verb === "create"),
      ).length,
  };
}

suite("Services of a process", { timeout: 60_000 }, () => {
  test("lead to the members of their pools, and follow a failover", async (context) => {
    const { nodes, published, lines } = await start(context);
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    await published("10.0.0.1 serving, 10.0.0.2 ready", "orders-ro");
    for (const node of nodes) node.leader = "pg2";
    // It is demoted: a hard no.
    await published("10.0.0.1 out, 10.0.0.2 ready");
    await published("10.0.0.1 ready, 10.0.0.2 serving", "orders-ro");
    assert.deepEqual(
      lines.filter((line) => line.includes("Services not published")),
      [],
    );
  });

  test("are in /status, /edges, /pools and the metrics: who has written them, and where they lead", async (context) => {
    const { get, published } = await start(context);
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    await published("10.0.0.1 serving, 10.0.0.2 ready", "orders-ro");
    await until("what is published is known", async () => (await get("/status")).includes('"state":"published"'));
    const [cluster] = listOf(objectOf(JSON.parse(await get("/status")))["clusters"]).map(objectOf);
    const [write, read] = listOf(cluster?.["services"]).map(objectOf);
    assert.deepEqual(
      [write?.["service"], write?.["published_by"], write?.["mine"], write?.["ready"], write?.["problem"]],
      ["databases/orders", "edge-1", true, ["10.0.0.1:5432"], null],
    );
    assert.equal(read?.["text"], "databases/orders-ro leads to 10.0.0.2:5432, published by this rolecall");
    const edges = objectOf(JSON.parse(await get("/edges")));
    const [balancer] = listOf(edges["balancers"]).map(objectOf);
    assert.deepEqual(
      [balancer?.["balancer"], balancer?.["kind"], balancer?.["up"]],
      ["databases/orders", "kubernetes", true],
    );
    assert.match(await get("/pools"), /"kind":"kubernetes","name":"databases\/orders"/);
    const metrics = await get("/metrics");
    for (const line of [
      "rolecall_kubernetes_up 1",
      'rolecall_service_ready{cluster="demo",pool="writes",service="databases/orders"} 1',
      'rolecall_service_writer{cluster="demo",pool="reads",service="databases/orders-ro"} 1',
      'rolecall_service_problem{cluster="demo",pool="writes",service="databases/orders",problem="away"} 0',
      'rolecall_service_writes_total{namespace="databases",outcome="written"} ',
      'rolecall_kubernetes_requests_total{request="write",status="201"} 2',
      'rolecall_service_publish_duration_seconds_count{namespace="databases"} ',
    ])
      assert.ok(
        metrics.includes(line),
        `${line}\n${metrics
          .split("\n")
          .filter((one) => /kubern|service/.test(one))
          .join("\n")}`,
      );
  });

  test("are in `rolecall status` and `rolecall explain`", async (context) => {
    const { get, run, published } = await start(context);
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    await published("10.0.0.1 serving, 10.0.0.2 ready", "orders-ro");
    await until("what is published is known", async () => (await get("/status")).includes('"state":"published"'));
    for (const command of ["status", "explain"]) {
      const out = await run(command);
      assert.match(out, /^ *service: databases\/orders leads to 10\.0\.0\.1:5432, published by this rolecall$/m);
      assert.match(out, /^ *service: databases\/orders-ro leads to 10\.0\.0\.2:5432, published by this rolecall$/m);
    }
  });

  test("that cannot be written are an event, an error in the situation, and a metric; then they are published again", async (context) => {
    const { get, server, nodes, published } = await start(context);
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    await published("10.0.0.1 serving, 10.0.0.2 ready", "orders-ro");
    server.denied.add("patch endpointslices");
    for (const node of nodes) node.leader = "pg2";
    await until("the event", async () => (await get("/events")).includes('"kind":"service_unpublished"'));
    const status = await get("/status");
    assert.match(status, /a Service leads elsewhere than it should/);
    assert.match(status, /cannot patch resource/);
    assert.match(
      await get("/metrics"),
      /service_problem\{cluster="demo",pool="writes",service="databases\/orders",problem="forbidden"\} 1/,
    );
    server.denied.clear();
    await published("10.0.0.1 out, 10.0.0.2 ready");
    await until("the end", async () => (await get("/events")).includes('"kind":"service_published"'));
  });

  test("the leader that Patroni keeps in Kubernetes is watched: its change is a hint, and withdraws a yes", async (context) => {
    const lead = (server: FakeApiServer, leader: string): void => {
      const labels = { "cluster-name": "demo" };
      server.put("configmaps", { metadata: { name: "demo-leader", labels, annotations: { leader } } });
    };
    const { get, server, config, app, published } = await start(context, (fake) => lead(fake, "pg1"));
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    await app.apply(config(undefined, ", dcs: { kubernetes: { namespace: databases } }"));
    await until("a read", async () => /rolecall_dcs_up\{cluster="demo"\} 1/.test(await get("/metrics")));
    // pg1 claims the lock still: the slice loses it all the same.
    lead(server, "pg2");
    await published("10.0.0.1 out, 10.0.0.2 serving");
    assert.match(await get("/metrics"), /rolecall_dcs_withdrawals_total\{cluster="demo"\} 1/);
  });

  test("stay when all nodes fall silent, and when rolecall ends: its Lease ends then", async (context) => {
    const { app, server, nodes, published, said, writes } = await start(context);
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    // They accept connections, and say nothing.
    for (const node of nodes) node.server.removeAllListeners("request");
    const writer = (): unknown =>
      objectOf(objectOf(server.objects("endpointslices")[0]?.["metadata"])["annotations"])["rolecall/writer"];
    // It resigns, so that another one can write.
    await until("the end of its evidence", () => writer() === undefined);
    assert.equal(said(), "10.0.0.1 ready, 10.0.0.2 serving");
    const [left, count] = [said(), writes()];
    await app.stop({ drains: false });
    assert.deepEqual([said(), writes()], [left, count]);
    const [lease] = server.objects("leases");
    assert.equal(objectOf(lease?.["spec"])["holderIdentity"], undefined);
    await until("the end of the watches", () => server.watches === 0);
  });

  test("a reload adds and takes away Services, and none of what stays is written again", async (context) => {
    const { app, config, published, said, writes } = await start(context);
    await published("10.0.0.1 ready, 10.0.0.2 serving");
    await published("10.0.0.1 serving, 10.0.0.2 ready", "orders-ro");
    const count = writes();
    await app.apply(config("{ pool: writes, service: databases/orders }"));
    await app.apply(config());
    await until("a probe", () => said() !== "");
    assert.equal(writes(), count);
  });

  test("what cannot be published is logged once, with what is missing", async (context) => {
    const { lines } = await start(context, (server) => {
      server.denied.add("patch endpointslices");
    });
    const warned = (): readonly string[] => lines.filter((line) => line.includes("Services not published"));
    await until("a line", () => warned().length > 0);
    assert.match(warned()[0] ?? "", /cannot patch resource .{0,2}endpointslices/);
    assert.equal(new Set(warned()).size, warned().length);
  });
});
