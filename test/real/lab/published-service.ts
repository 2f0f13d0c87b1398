/** Services that rolecalls publish to a real API server, from nodes that a test answers for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { loadConfig } from "../../../src/app/registry/config.ts";
import type { App } from "../../../src/app/app.ts";
import { listOf, objectOf, type JsonObject } from "../../../src/core/cluster/values/json.ts";
import { appOf } from "../../app/app-fixture.ts";
import type { FakeNode } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";
import { Child } from "./child.ts";
import { type KubeApi, kubeTokens } from "./kube-api.ts";
import { program } from "./rolecall.ts";

const slices = "/apis/discovery.k8s.io/v1/namespaces/databases/endpointslices";

/** One rolecall that publishes, in the namespace `databases`. */
export interface Publisher {
  readonly instance: string;
  readonly service: string;
  /** What it sees of the cluster. */
  readonly nodes: readonly Pick<FakeNode, "name" | "api">[];
  /** Default: that of the user of rolecall. */
  readonly kubeconfig?: string;
}

/** Creates a Service without a selector. */
export async function createService(kube: KubeApi, service: string): Promise<void> {
  await kube.done("POST", "/api/v1/namespaces/databases/services", {
    body: { metadata: { name: service }, spec: { ports: [{ name: "postgres", port: 5432 }] } },
  });
}

/** Writes the configuration of a rolecall, with probes each 100 ms. @returns the name of the file */
export async function writePublisher(
  kube: KubeApi,
  { instance, service, nodes, kubeconfig = kube.kubeconfig(kubeTokens.rolecall) }: Publisher,
): Promise<string> {
  const rows = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}", database: "${addressOf(name)}:5432" }`);
  const file = join(temporaryFolder("services"), "rolecall.yaml");
  writeFileSync(
    file,
    `
clusters: [{ name: demo, nodes: [${rows.join()}] }]
probe: { interval: 100ms, cluster_interval: 100ms }
pools: [{ name: writes, cluster: demo, check: /primary }]
kubernetes:
  kubeconfig: ${kubeconfig}
  instance: ${instance}
  services: [{ pool: writes, service: databases/${service} }]
guards: { demoted_for: 0s }
listen: [{ port: ${await freePort()} }]
`,
  );
  return file;
}

/** Starts a rolecall in this process, until the test ends. */
export async function startPublisher(context: TestContext, kube: KubeApi, publisher: Publisher): Promise<App> {
  const loaded = loadConfig({ file: await writePublisher(kube, publisher), env: {}, flags: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded));
  const app = appOf(context, loaded.config);
  await app.start();
  return app;
}

/** Starts a rolecall as a process of its own, until the test ends. */
export async function startProcess(context: TestContext, kube: KubeApi, publisher: Publisher): Promise<Child> {
  const file = await writePublisher(kube, publisher);
  const child = new Child({
    name: publisher.instance,
    command: [process.execPath, program, "serve", "--config", file],
    folder: kube.folder,
  });
  context.after(() => child.stop("SIGKILL"));
  return child;
}

/** The address that slices have for a node: an API server takes none of loopback. */
export function addressOf(node: string): string {
  return node.replace("pg", "10.0.0.");
}

/** The slices of a Service, as the API server has them. */
export async function slicesOf(kube: KubeApi, service: string): Promise<readonly JsonObject[]> {
  const { body } = await kube.call("GET", `${slices}?labelSelector=kubernetes.io/service-name%3D${service}`);
  return listOf(body["items"]).map(objectOf);
}

/** The nodes whose addresses are ready. */
export function readyIn(found: readonly JsonObject[]): readonly string[] {
  return found.flatMap(({ endpoints }) =>
    listOf(endpoints)
      .map(objectOf)
      .filter(({ conditions }) => objectOf(conditions)["ready"] === true)
      .flatMap(({ addresses }) => listOf(addresses).map((ip) => String(ip).replace("10.0.0.", "pg"))),
  );
}

/** Waits until a Service leads to one node alone. */
export async function leadsTo(kube: KubeApi, service: string, node: string, seconds = 30): Promise<void> {
  let ready: readonly string[] = [];
  await until({ what: `${service} leads to ${node}`, seconds, evidence: () => ready.join() }, async () => {
    ready = readyIn(await slicesOf(kube, service));
    return ready.join() === node;
  });
}

/** The rolecall that has written a slice; `null`: it has resigned, or none has. */
export function writerOf(found: Readonly<Record<string, unknown>> | undefined): string | null {
  const writer = objectOf(objectOf(found?.["metadata"])["annotations"])["rolecall/writer"];
  return typeof writer === "string" && writer !== "" ? writer : null;
}

/** The version of a slice: each write gives it another one. */
export function versionOf(found: JsonObject | undefined): unknown {
  return objectOf(found?.["metadata"])["resourceVersion"];
}
