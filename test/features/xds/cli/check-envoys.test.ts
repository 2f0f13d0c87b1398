import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { runJson } from "../../../fake/command-line.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { freePort } from "../../../fake/free-port.ts";
import { statusNode } from "../../../fake/status-clusters.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

test("doctor reports what Envoys subscribe to and do not get", async (context) => {
  const [node] = await openFakeCluster(context, ["pg1"]);
  assert.ok(node !== undefined);
  const envoy = { balancer: "edge-1", kind: "envoy", socket: "10.0.0.9:4711", problems: [] };
  const problem = { subject: "pool wrtie", problem: "no pool of this listener has this name" };
  const balancers = [
    { ...envoy, problems: [problem] },
    { ...envoy, balancer: "edge-2" },
    { ...envoy, kind: "haproxy", problems: [problem] },
  ];
  const clusters = [{ cluster: "demo", nodes: [statusNode("pg1", { api: node.api })] }];
  const server = await serveCannedAnswers({ "/status": { body: { clusters } }, "/edges": { body: { balancers } } });
  context.after(() => server.close());
  const config = join(temporaryFolder("envoys"), "rolecall.yaml");
  const run = async (listen: readonly object[]): Promise<Awaited<ReturnType<typeof runJson>>> => {
    const nodes = [{ name: "pg1", api: node.api, database: "10.0.0.1:5432" }];
    writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", nodes }], listen }));
    return runJson(["doctor", "--config", config, "--haproxy", "/no/such/haproxy"]);
  };
  const admin = { port: Number(new URL(server.url).port), dialect: "admin" };
  const xds = { port: await freePort(), dialect: "xds" };
  const found = await run([admin, xds]);
  assert.deepEqual(
    found.diagnostics.filter(({ rule_id: rule }) => rule === "RC139").map(({ message }) => message),
    ["Envoy edge-1 (10.0.0.9:4711): pool wrtie: no pool of this listener has this name"],
  );
  assert.equal(found.coverage.find(({ id }) => id === "envoys")?.detail, "2 streams of Envoys");
  const without = await run([admin]);
  assert.equal(
    without.coverage.find(({ id }) => id === "envoys"),
    undefined,
  );
  const silent = await run([xds, { port: await freePort(), dialect: "admin" }]);
  assert.equal(silent.coverage.find(({ id }) => id === "envoys")?.status, "not_checked");
});
