/**
 * Services of a real API server, with exactly the rights of deploy/kubernetes: two rolecalls publish them, over changes of
 * the primary, the death of the writer, and an API server that is away.
 */
import assert from "node:assert/strict";
import { after, before, suite, test, type TestContext } from "node:test";
import type { App } from "../../src/app/app.ts";
import { listOf, objectOf, type JsonObject } from "../../src/core/cluster/values/json.ts";
import { type FakeNode, openFakeCluster } from "../fake/fake-node.ts";
import { until } from "../fake/until.ts";
import { grantRole, KubeApi, noKubeApi } from "./lab/kube-api.ts";
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
    await kube.done("POST", "/api/v1/namespaces", { body: { metadata: { name: "databases" } } });
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
