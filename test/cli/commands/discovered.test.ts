import assert from "node:assert/strict";
import { test } from "node:test";
import { discoverScope } from "../../../src/app/discover-scope.ts";
import { startProbes } from "../../../src/app/machine/probe-once.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { startSimulator } from "../../../src/tools/simulator/simulator.ts";
import { runJson } from "../../fake/command-line.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";

interface StatusData {
  readonly clusters: readonly { readonly cluster: string; readonly scope: string | null }[];
}

async function clusterOfStatus(...argv: readonly string[]): Promise<string | undefined> {
  const { data } = await runJson(["status", ...argv]);
  return (data as StatusData).clusters[0]?.cluster;
}

test("a cluster of --discover has the scope that its nodes report as its name", async (context) => {
  const simulator = await startSimulator({ nodes: 2, port: 0, scope: "orders" });
  context.after(() => simulator.stop());
  const seed = simulator.nodes[0]?.url ?? "";
  assert.equal(await clusterOfStatus("--discover", seed), "orders");
  assert.equal(await clusterOfStatus("--discover", `http://127.0.0.1:1,${seed}`), "orders");
  const check = await runJson(["check", "/primary", "--discover", seed]);
  assert.equal((check.data as { cluster: string }).cluster, "orders");
  assert.equal(await clusterOfStatus("--discover", seed, "--cluster", "shop"), "shop");
});

test("a cluster of --discover whose nodes do not answer is named main", async () => {
  assert.equal(await clusterOfStatus("--discover", "http://127.0.0.1:1"), "main");
});

test("a service waits for nodes that are starting before it names its cluster", async (context) => {
  const port = await freePort();
  const loaded = loadConfig({ file: null, env: {}, flags: { discover: [`http://127.0.0.1:${port}`] } });
  assert.ok(loaded.ok);
  const patient = { ...loaded.config, probe: { ...loaded.config.probe, timeoutMs: 60_000 } };
  assert.equal(await discoverScope(patient), null);
  const scope = discoverScope(patient, "wait");
  const simulator = await startSimulator({ nodes: 1, port, scope: "orders" });
  context.after(() => simulator.stop());
  assert.equal(await scope, "orders");
});

test("doctor does not report that the lock limits a default max_age, but one that is set", async (context) => {
  const times = { ttlMs: 10_000, loopWaitMs: 2_000, retryTimeoutMs: 3_000 };
  const simulator = await startSimulator({ nodes: 2, port: 0, ...times });
  context.after(() => simulator.stop());
  const argv = ["doctor", "--discover", simulator.nodes[0]?.url ?? "", "--haproxy", "/no/such/haproxy"];
  const rulesOf = async (...more: readonly string[]): Promise<readonly string[]> =>
    (await runJson([...argv, ...more])).diagnostics.map(({ rule_id: id }) => id).filter((id) => id === "RC106");
  assert.deepEqual(await rulesOf(), []);
  assert.deepEqual(await rulesOf("--set", "probe.max_age=6s"), ["RC106"]);
});

test("local probes go on until they are stopped", async (context) => {
  const simulator = await startSimulator({ nodes: 2, port: 0 });
  context.after(() => simulator.stop());
  const flags = { discover: simulator.nodes.map(({ url }) => url), set: ["probe.interval=50ms"] };
  const loaded = loadConfig({ file: null, env: {}, flags });
  assert.ok(loaded.ok);
  const probes = startProbes(loaded.config, { find: [], finders: [], onTlsProblem: () => {} });
  await probes.firstRound;
  const sentAt = (): number => probes.probed.cluster("main")?.nodes[0]?.sentAtMs ?? 0;
  const firstAtMs = sentAt();
  assert.equal(probes.probed.watchedMs(), 0);
  probes.startWatch();
  await until("a later probe", () => sentAt() > firstAtMs);
  probes.stop();
  const watchedMs = probes.probed.watchedMs();
  assert.ok(watchedMs > 0);
  assert.equal(probes.probed.watchedMs(), watchedMs);
});
