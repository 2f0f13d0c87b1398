/**
 * Two hundred clusters, each with a Service for writes and one for reads, from one rolecall on a real API server: nothing
 * is written at rest, and all are right soon after all primaries have changed at once.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { listOf, objectOf } from "../../src/core/cluster/values/json.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { Child } from "./lab/child.ts";
import { grantRole, KubeApi, kubeTokens, noKubeApi } from "./lab/kube-api.ts";
import { createService, readyIn } from "./lab/published-service.ts";
import { program } from "./lab/rolecall.ts";

const { CLUSTERS: clusters = "200" } = process.env;
const count = Number(clusters);
/** How long nothing changes, and how long the API server is away, in ms. */
const [restMs, awayMs] = [60_000, 60_000];

test("Services of many clusters", { skip: noKubeApi === null ? false : `not run: ${noKubeApi}` }, async (context) => {
  const kube = await KubeApi.start();
  context.after(() => kube.stop());
  await grantRole(kube);
  const names = Array.from({ length: count }, (_, at) => `c${at}`);
  const all = await Promise.all(names.map(() => openFakeCluster(context, ["pg1", "pg2"])));
  for (const [at, nodes] of all.entries())
    for (const node of nodes) {
      node.scope = names[at] ?? "";
      node.fields = {
        database_system_identifier: `70000000000000${10_000 + at}`,
        patroni: { version: "4.1.4", scope: node.scope, name: node.name },
      };
    }
  for (const name of names) for (const kind of ["rw", "ro"]) await createService(kube, `${name}-${kind}`);
  const admin = await freePort();
  const file = join(temporaryFolder("many"), "rolecall.yaml");
  const configuration = {
    clusters: names.map((name, at) => ({
      name,
      nodes: all[at]?.map((node) => ({
        name: node.name,
        api: node.api,
        database: `10.1.${at}.${node.name.slice(2)}:5432`,
      })),
    })),
    pools: names.flatMap((cluster) => [
      { name: `${cluster}-rw`, cluster, check: "/primary" },
      { name: `${cluster}-ro`, cluster, check: "/replica" },
    ]),
    kubernetes: {
      kubeconfig: kube.kubeconfig(kubeTokens.rolecall),
      instance: "edge-1",
      services: names.flatMap((name) =>
        ["rw", "ro"].map((kind) => ({ pool: `${name}-${kind}`, service: `databases/${name}-${kind}` })),
      ),
    },
    guards: { demoted_for: "0s" },
    listen: [{ port: admin, dialect: "admin" }],
  };
  writeFileSync(file, JSON.stringify(configuration));
  const rolecall = new Child({
    name: "many",
    command: [process.execPath, program, "serve", "--config", file],
    folder: kube.folder,
  });
  context.after(() => rolecall.stop("SIGTERM"));

  /** How many Services for writes lead to a node alone, and for reads to the other one. */
  const leading = async (leader: string): Promise<number> => {
    const { items } = await kube.done("GET", "/apis/discovery.k8s.io/v1/namespaces/databases/endpointslices");
    const ready = new Map<string, string>();
    for (const slice of listOf(items).map(objectOf)) {
      const labels = objectOf(objectOf(slice["metadata"])["labels"]);
      const service = String(labels["kubernetes.io/service-name"]);
      const own = readyIn([slice]).map((ip) => `pg${ip.split(".").at(-1)}`);
      ready.set(service, [ready.get(service) ?? "", ...own].filter((one) => one !== "").join());
    }
    const other = leader === "pg1" ? "pg2" : "pg1";
    return names.filter((name) => ready.get(`${name}-rw`) === leader && ready.get(`${name}-ro`) === other).length;
  };
  const calls = async (label: string): Promise<number> => {
    const { body } = await ask({ port: admin, path: "/metrics", deadlineMs: 10_000 });
    const rows = body.matchAll(/^rolecall_kubernetes_requests_total\{([^}]*)\} (\d+)$/gm);
    return [...rows].reduce((sum, [, labels = "", value]) => (labels.includes(label) ? sum + Number(value) : sum), 0);
  };
  const all200 = async (leader: string, seconds: number): Promise<void> => {
    let right = 0;
    await until(
      { what: `all lead to ${leader}`, seconds, evidence: () => `${right} do\n${rolecall.tail}` },
      async () => (right = await leading(leader)) === count,
    );
  };

  await all200("pg1", 60);
  const before = await calls('request="write"');
  await sleep(restMs);
  assert.equal(await calls('request="write"'), before, "nothing is written at rest");
  const sinceMs = performance.now();
  for (const node of all.flat()) node.leader = "pg2";
  await all200("pg2", 60);
  const tookMs = performance.now() - sinceMs;
  const writes = (await calls('request="write"')) - before;
  context.diagnostic(
    `${count} clusters: all Services right after ${Math.round(tookMs)} ms with ${writes} writes, ${Math.round((writes * 1_000) / tookMs)} a second`,
  );
  assert.equal(await calls('status="429"'), 0);

  // One cluster switches over while the API server is away.
  await kube.kill();
  for (const node of all[0] ?? []) node.leader = "pg1";
  await sleep(awayMs);
  await kube.again();
  const backMs = performance.now();
  await until({ what: "c0 leads to pg1", seconds: 30 }, async () => (await leading("pg1")) === 1);
  const rightMs = Math.round(performance.now() - backMs);
  context.diagnostic(`right ${rightMs} ms after an API server was ready that had been away for ${awayMs / 1_000} s`);
  assert.ok(rightMs <= 1_000, `${rightMs} ms`);
});
