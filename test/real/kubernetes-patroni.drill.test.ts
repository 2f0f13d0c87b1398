/**
 * Patroni with the Kubernetes DCS, three real PostgreSQL and a real API server: from the new primary's first yes to the
 * slice that leads to it, over switchovers and kills; a watcher with a truth of its own never sees two ready addresses.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { loadConfig } from "../../src/app/registry/config.ts";
import { appOf } from "../app/app-fixture.ts";
import { freePort } from "../fake/free-port.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { freezeMachine } from "./lab/freeze.ts";
import { beside } from "./lab/beside.ts";
import { grantRole, KubeApi, kubeTokens, noKubeApi } from "./lab/kube-api.ts";
import { KubeCluster, type LeaderKind } from "./lab/kube-cluster.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { SliceWatch } from "./lab/slice-watch.ts";

/** How often each is tried; fewer for a look: `SWITCHOVERS=2 KILLS=1`. */
const { SWITCHOVERS: switchovers = "10", KILLS: kills = "5" } = process.env;

/** From the new primary's first yes to the slice, in ms. */
const limits = {
  median: 50,
  worst: 250,
  /** `probe.max_age` by default, and an interval: evidence for a yes is older then. */
  gone: 6_500,
} as const;

if (noKubeApi !== null) test("Patroni in Kubernetes", { skip: `not run: ${noKubeApi}` }, () => {});
else
  for (const kind of ["configmaps", "endpoints"] as const)
    beside("4.1", `A Service with Patroni in Kubernetes (${kind})`, (patroni) => scenarios(patroni, kind), 15);

function scenarios(patroni: readonly [string, ...string[]], kind: LeaderKind): void {
  let kube: KubeApi;
  let cluster: KubeCluster;
  before(async () => {
    kube = await KubeApi.start();
    await grantRole(kube, [{ apiGroups: [""], resources: [kind], verbs: ["list", "watch"] }]);
    cluster = await KubeCluster.start(kube, patroni, kind);
  });
  after(async () => {
    await cluster?.stop();
    await kube?.stop();
  });

  test("follows the primary over switchovers", async (context) => {
    const watch = await publish(context, cluster, { kind, service: "switched" });
    const took: Lateness[] = [];
    for (let round = 0; round < Number(switchovers); round += 1) {
      await cluster.streaming();
      const leader = await cluster.leader();
      const next = cluster.nodes.find((node) => node !== leader);
      assert.ok(next !== undefined);
      const yes = firstYes(next);
      await cluster.switchOver(next);
      took.push(await lateness(watch, next, await yes));
    }
    report(context, "switchovers", took);
    assert.deepEqual(watch.twins, []);
  });

  test("follows the primary over kills", async (context) => {
    const took: Lateness[] = [];
    for (let round = 0; round < Number(kills); round += 1) {
      // Bursts of probes may use 60 s in 10 minutes (rule 12), and each loss uses 10 s: each round has a rolecall of its own.
      const watch = await publish(context, cluster, { kind, service: `killed-${round}` });
      await cluster.streaming();
      const leader = await cluster.leader();
      const others = cluster.nodes.filter((node) => node !== leader);
      await leader.kill();
      const first = await Promise.race(others.map(async (node) => ({ node, yes: await firstYes(node, 90) })));
      took.push(await lateness(watch, first.node, first.yes));
      assert.deepEqual(watch.twins, []);
      leader.start();
    }
    report(context, "kills", took);
  });

  test("no longer leads to a leader whose machine hangs, and never to two", async (context) => {
    const watch = await publish(context, cluster, { kind, service: "hung" });
    await cluster.streaming();
    const leader = await cluster.leader();
    const address = addressOf(leader.name);
    assert.deepEqual(watch.ready, [address]);
    const sinceMs = performance.now();
    const thaw = freezeMachine(leader.postmaster ?? 0, leader.pid);
    const gone = await until({ what: "another or no address", seconds: 30 }, () =>
      watch.seen.find(({ atMs, ready }) => atMs > sinceMs && !ready.includes(address)),
    );
    const tookMs = Math.round(gone.atMs - sinceMs);
    await until({ what: "another primary", seconds: 90 }, () => watch.ready.length === 1 && watch.ready[0] !== address);
    thaw();
    await cluster.streaming();
    context.diagnostic(`the address of the frozen leader was gone after ${tookMs} ms`);
    assert.ok(tookMs <= limits.gone, `${tookMs} ms`);
    assert.deepEqual(watch.twins, []);
  });
}

/** Publishes the Service of the primary, with the leader of Patroni watched. */
async function publish(
  context: TestContext,
  { kube, nodes }: Pick<KubeCluster, "kube" | "nodes">,
  { kind, service }: { readonly kind: LeaderKind; readonly service: string },
): Promise<SliceWatch> {
  await kube.done("POST", "/api/v1/namespaces/databases/services", {
    body: { metadata: { name: service }, spec: { ports: [{ name: "postgres", port: 5432 }] } },
  });
  const rows = nodes.map(({ name, url }) => `{ name: ${name}, api: "${url}", database: "${addressOf(name)}:5432" }`);
  const file = join(temporaryFolder("kube-patroni"), "rolecall.yaml");
  writeFileSync(
    file,
    `
clusters: [{ name: demo, nodes: [${rows.join()}], dcs: { kubernetes: { namespace: databases, object: ${kind} } } }]
pools: [{ name: writes, cluster: demo, check: /primary }]
kubernetes:
  kubeconfig: ${kube.kubeconfig(kubeTokens.rolecall)}
  instance: edge-1
  services: [{ pool: writes, service: databases/${service} }]
listen: [{ port: ${await freePort()} }]
`,
  );
  const loaded = loadConfig({ file, env: {}, flags: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const app = appOf(context, loaded.config);
  await app.start();
  const watch = await SliceWatch.start(kube, service);
  context.after(() => watch.stop());
  await until(
    { what: "a primary", seconds: 30, evidence: () => JSON.stringify(watch.seen) },
    () => watch.ready.length === 1,
  );
  return watch;
}

/** The address that the slices have for a node: the API server takes none of loopback. */
function addressOf(node: string): string {
  return node.replace("pg", "10.0.0.");
}

/** When a node said yes first, in ms of the monotonic clock. */
interface FirstYes {
  /** Its first 200 at all: Patroni says so as soon as the node has the lock, while its document still says replica. */
  readonly bareMs: number;
  /** Its first 200 as a running primary: PostgreSQL is promoted, and takes writes. */
  readonly primaryMs: number;
}

/** How long after each of the two the Service led to the node alone, in ms: less than 0, if the slice was first. */
interface Lateness {
  readonly bare: number;
  readonly primary: number;
}

/** Asks a node again and again whether it is the primary, until it takes writes. */
async function firstYes(node: PatroniNode, seconds = 60): Promise<FirstYes> {
  const endMs = performance.now() + seconds * 1_000;
  let bareMs: number | null = null;
  while (performance.now() < endMs) {
    const reply = await ask({ port: node.apiPort, path: "/primary", deadlineMs: 2_000 }).catch(() => null);
    const nowMs = performance.now();
    if (reply?.status === 200) bareMs ??= nowMs;
    if (bareMs !== null && reply?.status === 200 && isRunningPrimary(reply.body)) return { bareMs, primaryMs: nowMs };
    await new Promise((resolve) => void setTimeout(resolve, 10));
  }
  throw new Error(`Not seen within ${seconds} s: a yes of ${node.name}`);
}

function isRunningPrimary(document: string): boolean {
  return /"role": "(primary|master)"/.test(document) && document.includes('"running"');
}

async function lateness(watch: SliceWatch, { name }: PatroniNode, yes: FirstYes): Promise<Lateness> {
  const address = addressOf(name);
  // What it said a while before is of an earlier term.
  const sinceMs = yes.bareMs - 5_000;
  await until(`the slice of ${name}`, () => watch.soleSince(address, sinceMs) !== null);
  const soleMs = watch.soleSince(address, sinceMs) ?? Infinity;
  return { bare: Math.round(soleMs - yes.bareMs), primary: Math.round(soleMs - yes.primaryMs) };
}

function report(context: TestContext, what: string, took: readonly Lateness[]): void {
  const of = (which: keyof Lateness): { readonly median: number; readonly worst: number; readonly text: string } => {
    const sorted = took.map((one) => one[which]).toSorted((one, other) => one - other);
    const [median, worst] = [sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN, sorted.at(-1) ?? NaN];
    return { median, worst, text: `${took.map((one) => one[which]).join(", ")} ms; median ${median}, worst ${worst}` };
  };
  const { median, worst, text } = of("primary");
  context.diagnostic(`${what}: from the first 200 of a running primary to the slice: ${text}`);
  context.diagnostic(`${what}: from the first 200 at all, before PostgreSQL is promoted: ${of("bare").text}`);
  assert.ok(median <= limits.median, `median ${median} ms`);
  assert.ok(worst <= limits.worst, `worst ${worst} ms`);
}
