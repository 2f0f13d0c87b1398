/** The pods of a cluster, found and followed at an API server; and a process that discovers its members through them. */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { loadConfig } from "../../../../src/app/registry/config.ts";
import type { FoundNodes } from "../../../../src/core/probe/client/node-finder.ts";
import { setSystemTimer } from "../../../../src/core/probe/schedule/system-timer.ts";
import { readApiAccess } from "../../../../src/features/kubernetes/api/api-access.ts";
import { ApiClient } from "../../../../src/features/kubernetes/api/api-client.ts";
import { PodFinder } from "../../../../src/features/kubernetes/discovery/pod-finder.ts";
import { appOf } from "../../../app/app-fixture.ts";
import { writeConfigFile } from "../../../fake/config-file.ts";
import { FakeApiServer } from "../../../fake/fake-api-server.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { freePort } from "../../../fake/free-port.ts";
import { until } from "../../../fake/until.ts";

const seed = "kubernetes://databases?selector=cluster-name=demo";

interface Fixture {
  readonly server: FakeApiServer;
  readonly finder: PodFinder;
  /** Waits until these addresses are found. */
  readonly finds: (...origins: readonly string[]) => Promise<unknown>;
}

async function fixture(context: TestContext, changed: (server: FakeApiServer) => void = () => {}): Promise<Fixture> {
  const server = await FakeApiServer.open(context);
  changed(server);
  const kubeconfig = server.kubeconfig();
  const now = (): number => performance.now();
  const client = new ApiClient({ readAccess: () => readApiAccess({ kubeconfig, context: null }, {}), now });
  const finder = new PodFinder({ client: () => client, now, random: () => 0, setTimer: setSystemTimer });
  context.after(() => {
    finder.stop();
    client.close();
  });
  const finds: Fixture["finds"] = (...origins) =>
    until(`found: ${origins.join()}`, async () => originsOf(await finder.find(seed)).join() === origins.join());
  return { server, finder, finds };
}

function originsOf(found: FoundNodes): readonly string[] {
  return found.kind === "found" ? found.origins : [];
}

function put(server: FakeApiServer, name: string, podIP: string, cluster = "demo"): void {
  const conditions = [{ type: "Ready", status: "True" }];
  server.put("pods", {
    metadata: { name, uid: `uid-${name}`, labels: { "cluster-name": cluster } },
    spec: {},
    status: { phase: "Running", podIP, conditions },
  });
}

suite("pods", () => {
  test("are found by their labels, and followed by one watch: no pod is asked for again", async (context) => {
    const { server, finds } = await fixture(context, (fake) => {
      put(fake, "demo-0", "10.1.0.1");
      put(fake, "other-0", "10.1.0.9", "other");
    });
    await finds("http://10.1.0.1:8008");
    put(server, "demo-1", "10.1.0.2");
    await finds("http://10.1.0.1:8008", "http://10.1.0.2:8008");
    put(server, "demo-0", "10.1.0.3");
    await finds("http://10.1.0.3:8008", "http://10.1.0.2:8008");
    server.delete("pods", "demo-0");
    await finds("http://10.1.0.2:8008");
    assert.deepEqual(
      server.calls.map(({ verb }) => verb),
      ["list", "watch"],
    );
  });

  test("of no label: that is said", async (context) => {
    const { finder } = await fixture(context);
    assert.deepEqual(await finder.find(seed), {
      kind: "none",
      why: "no pod of databases has the labels cluster-name=demo and an address",
    });
  });

  test("may not be read: the right that is missing is said, and they are found once it is given", async (context) => {
    const { server, finder, finds } = await fixture(context, (fake) => {
      put(fake, "demo-0", "10.1.0.1");
      fake.denied.add("list pods");
    });
    const found = await finder.find(seed);
    assert.match(
      found.kind === "none" ? found.why : "",
      /^the pods of databases are not known: status 403: .*cannot list/,
    );
    assert.equal(finder.problemOf(seed)?.kind, "forbidden");
    server.denied.clear();
    await finds("http://10.1.0.1:8008");
    assert.equal(finder.problemOf(seed), null);
  });

  test("stay as they were while the API server is away, and are right when it is back", async (context) => {
    const { server, finder, finds } = await fixture(context, (fake) => put(fake, "demo-0", "10.1.0.1"));
    await finds("http://10.1.0.1:8008");
    server.misbehave = () => ({ kind: "reset" });
    server.say("pods", "garbage\n");
    await until("a problem", () => finder.problemOf(seed)?.kind === "away");
    put(server, "demo-1", "10.1.0.2");
    assert.deepEqual(originsOf(await finder.find(seed)), ["http://10.1.0.1:8008"]);
    server.misbehave = () => null;
    await finds("http://10.1.0.1:8008", "http://10.1.0.2:8008");
  });

  test("that nobody names any more are not watched", async (context) => {
    const { server, finder, finds } = await fixture(context, (fake) => put(fake, "demo-0", "10.1.0.1"));
    await finds("http://10.1.0.1:8008");
    await until("a watch", () => server.watches === 1);
    finder.configure(new Set(["http://10.0.0.1:8008"]), false);
    await until("no watch", () => server.watches === 0);
  });
});

test("a process discovers its members through a pod, and says why it knows none", async (context) => {
  const server = await FakeApiServer.open(context);
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const api = new URL(nodes[0]?.api ?? "");
  const port = await freePort();
  const file = writeConfigFile(
    context,
    `
clusters: [{ name: demo, discover: ["${seed}&port=${api.port}"] }]
probe: { interval: 100ms, cluster_interval: 100ms }
kubernetes: { kubeconfig: ${server.kubeconfig()} }
listen: [{ port: ${port}, dialect: admin }]
`,
  );
  const loaded = loadConfig({ file, env: {}, flags: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const app = appOf(context, loaded.config);
  await app.start();
  let last = "";
  const status = async (): Promise<string> => (last = await (await fetch(`http://127.0.0.1:${port}/status`)).text());
  await until({ what: "the reason", seconds: 5, evidence: () => last }, async () =>
    (await status()).includes("no pod of databases has the labels cluster-name=demo and an address"),
  );
  put(server, "demo-0", api.hostname);
  await until("the members", async () => {
    const text = await status();
    return text.includes('"pg1"') && text.includes('"pg2"');
  });
});
