/**
 * Services of a real API server, with exactly the rights of deploy/kubernetes: two rolecalls publish them, over changes of
 * the primary, the death of the writer, and an API server that is away.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test, type TestContext } from "node:test";
import type { App } from "../../src/app/app.ts";
import { listOf, objectOf, type JsonObject } from "../../src/core/cluster/values/json.ts";
import { chartObjects, readObjects, type ReadObject } from "../fake/deployed-objects.ts";
import { type FakeNode, openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { appOf, statusOf } from "../app/app-fixture.ts";
import { loadConfig } from "../../src/app/registry/config.ts";
import { grantRole, KubeApi, kubeTokens, noKubeApi } from "./lab/kube-api.ts";
import {
  createService,
  leadsTo,
  readyIn,
  slicesOf,
  startPublisher,
  versionOf,
  writerOf,
} from "./lab/published-service.ts";

suite("Services", { skip: noKubeApi === null ? false : `not run: ${noKubeApi}`, timeout: 300_000 }, () => {
  let kube: KubeApi;
  before(async () => {
    kube = await KubeApi.start();
    await grantRole(kube);
  });
  after(async () => kube.stop());

  test("follow the primary, and never lead to two", async (context) => {
    const { nodes, said } = await published(context, kube, "follow", ["edge-1", "edge-2"]);
    const took: number[] = [];
    const stop = watchForTwo(kube, "follow");
    for (const leader of ["pg2", "pg1", "pg2", "pg1", "pg2"]) {
      const sinceMs = performance.now();
      for (const node of nodes) node.leader = leader;
      await until({ what: leader, evidence: () => "" }, async () => (await said()) === leader);
      took.push(Math.round(performance.now() - sinceMs));
    }
    assert.deepEqual(await stop(), []);
    context.diagnostic(`from the change of the node to the slice, with probes each 100 ms: ${took.join(", ")} ms`);
  });

  test("have Events as kubectl describe reads them, with the rights of the page", async (context) => {
    const { nodes, said } = await published(context, kube, "events", ["edge-6", "edge-7"]);
    for (const node of nodes) node.leader = "pg2";
    await until("pg2", async () => (await said()) === "pg2");
    const { uid } = objectOf((await kube.done("GET", "/api/v1/namespaces/databases/services/events"))["metadata"]);
    // The field selector of kubectl.
    const selector = `involvedObject.uid=${String(uid)},involvedObject.name=events,involvedObject.namespace=databases,involvedObject.kind=Service`;
    const events = async (): Promise<readonly string[]> => {
      const path = `/api/v1/namespaces/databases/events?fieldSelector=${encodeURIComponent(selector)}`;
      return listOf((await kube.done("GET", path))["items"])
        .map(objectOf)
        .map(({ type, reason, message, source }) => [type, reason, objectOf(source)["component"], message].join(" "));
    };
    await until("an Event", async () => (await events()).length > 0);
    // There is none in between, and one of each kind in a minute.
    const found = (await events()).toSorted();
    assert.equal(found[0], "Normal PrimaryChanged rolecall the primary is pg1 (10.0.0.1:5432)");
    assert.match(found.slice(1).join(), /^(Warning NoPrimary rolecall no primary: pg1 is wrong_role.*)?$/);
  });

  test("are not written at rest, nor when the writer ends; then another one goes on", async (context) => {
    const { nodes, apps, said, slice } = await published(context, kube, "dies", ["edge-3", "edge-4"]);
    const [atFirst] = await slice();
    const version = versionOf(atFirst);
    const writer = writerOf(atFirst);
    const [first, second] = apps;
    await (writer === "edge-3" ? first : second)?.stop({ drains: false });
    await new Promise((resolve) => void setTimeout(resolve, 3_000));
    assert.equal(versionOf((await slice())[0]), version);
    for (const node of nodes) node.leader = "pg2";
    await until("pg2", async () => (await said()) === "pg2");
    assert.notEqual(writerOf((await slice())[0]), writer);
  });

  test("a cluster is found by the labels of its pods, and follows them", async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    const port = await freePort();
    const file = join(temporaryFolder("found"), "rolecall.yaml");
    const seed = `kubernetes://databases?selector=cluster-name=found&port=${first.port}`;
    writeFileSync(
      file,
      `
clusters: [{ name: demo, discover: ["${seed}"] }]
probe: { interval: 100ms, cluster_interval: 100ms }
kubernetes: { kubeconfig: ${kube.kubeconfig(kubeTokens.rolecall)} }
listen: [{ port: ${port} }]
`,
    );
    const loaded = loadConfig({ file, env: {}, flags: {} });
    assert.ok(loaded.ok, JSON.stringify(loaded));
    const app = appOf(context, loaded.config);
    await app.start();
    assert.equal(await statusOf(port, "/nodes/pg1/primary"), 503);
    const pods = "/api/v1/namespaces/databases/pods";
    await kube.done("POST", pods, {
      body: {
        metadata: { name: "found-0", labels: { "cluster-name": "found" } },
        spec: { containers: [{ name: "postgresql", image: "postgresql" }] },
      },
    });
    await kube.done("PATCH", `${pods}/found-0/status`, {
      type: "application/merge-patch+json",
      body: { status: { phase: "Running", podIP: "127.0.0.1", podIPs: [{ ip: "127.0.0.1" }] } },
    });
    await until("pg1", async () => (await statusOf(port, "/nodes/pg1/primary")) === 200);
    // The other one is in the list of the first.
    await until("pg2", async () => (await statusOf(port, "/nodes/pg2/replica")) === 200);
  });

  test("the manifests are accepted as they are, each field known", async (context) => {
    const manifests = ["rolecall.yaml", "monitoring.yaml"].flatMap((file) =>
      readObjects(readFileSync(`deploy/kubernetes/${file}`, "utf8")),
    );
    for (const [namespace, objects] of [
      ["manifests", manifests],
      ["chart", chartObjects()],
    ] as const) {
      await kube.done("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
      const applied: string[] = [];
      for (const object of objects) {
        const path = await pathOf(kube, object, namespace);
        // Kinds of the Prometheus operator are those of another program.
        if (path === null) continue;
        const { status, body } = await kube.call(
          "PATCH",
          `${path}?fieldManager=test&force=true&fieldValidation=Strict`,
          {
            type: "application/apply-patch+yaml",
            body: { ...object, metadata: { ...object.metadata, namespace } },
          },
        );
        assert.ok(status === 200 || status === 201, `${object.kind}: ${JSON.stringify(body)}`);
        applied.push(object.kind);
      }
      assert.ok(applied.length >= 5, applied.join());
      context.diagnostic(`${namespace}: ${applied.join(", ")}`);
    }
  });

  test("are right within a second when the API server is back", async (context) => {
    const { nodes, said } = await published(context, kube, "away", ["edge-5"]);
    await kube.kill();
    for (const node of nodes) node.leader = "pg2";
    await new Promise((resolve) => void setTimeout(resolve, 5_000));
    await kube.again();
    const sinceMs = performance.now();
    await until("pg2", async () => (await said()) === "pg2");
    context.diagnostic(`${Math.round(performance.now() - sinceMs)} ms after it was ready`);
  });
});

interface Published {
  readonly nodes: readonly FakeNode[];
  readonly apps: readonly App[];
  /** The node whose address is ready; `null`: none. */
  readonly said: () => Promise<string | null>;
  readonly slice: () => Promise<readonly JsonObject[]>;
}

/** Publishes one Service from some rolecalls, and waits until it leads to pg1. */
async function published(
  context: TestContext,
  kube: KubeApi,
  service: string,
  instances: readonly string[],
): Promise<Published> {
  await createService(kube, service);
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const apps: App[] = [];
  for (const instance of instances) apps.push(await startPublisher(context, kube, { instance, service, nodes }));
  const slice = async (): Promise<readonly JsonObject[]> => slicesOf(kube, service);
  const said = async (): Promise<string | null> => readyIn(await slice())[0] ?? null;
  await leadsTo(kube, service, "pg1");
  return { nodes, apps, said, slice };
}

/** The path of an object, by what the API server says of its kind; `null`: it has no such kind. */
async function pathOf(kube: KubeApi, object: ReadObject, namespace: string): Promise<string | null> {
  const { apiVersion, kind, metadata } = object;
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { body } = await kube.call("GET", group);
  const found = listOf(body["resources"])
    .map(objectOf)
    .find((one) => one["kind"] === kind && !String(one["name"]).includes("/"));
  if (found === undefined) return null;
  const folder = found["namespaced"] === true ? `${group}/namespaces/${namespace}` : group;
  return `${folder}/${String(found["name"])}/${metadata.name}`;
}

/** Reads the slices again and again. @returns ends that, and gives every moment in which two were ready */
function watchForTwo(kube: KubeApi, service: string): () => Promise<readonly string[]> {
  const seen: string[] = [];
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) {
      const ready = readyIn(await slicesOf(kube, service));
      if (ready.length > 1) seen.push(ready.join());
    }
  })();
  return async () => {
    ending.abort();
    await running;
    return seen;
  };
}
