import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { runJson } from "../../../fake/command-line.ts";
import { type FakeNode, openFakeCluster } from "../../../fake/fake-node.ts";
import { shownFleet } from "../../../fake/shown-fleet.ts";
import { statusNode } from "../../../fake/status-clusters.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

/** What doctor finds where a rolecall in a fleet, with one node, is to answer at this address. */
function doctorOf({ api }: FakeNode, url: string): ReturnType<typeof runJson> {
  const config = join(temporaryFolder("fleet"), "rolecall.yaml");
  const clusters = [{ name: "demo", nodes: [{ name: "pg1", api, database: "10.0.0.1:5432" }] }];
  const own = { name: "edges", advertise: "http://127.0.0.1:9108", etcd: { urls: ["http://127.0.0.1:2379"] } };
  const listen = [{ port: Number(new URL(url).port), dialect: "admin" }];
  writeFileSync(config, JSON.stringify({ clusters, listen, fleet: own }));
  return runJson(["doctor", "--config", config, "--haproxy", "/no/such/haproxy"]);
}

/** What doctor says of a fleet that the running rolecall shows so. */
async function findings(context: TestContext, fleet: object | null): Promise<readonly unknown[]> {
  const [node] = await openFakeCluster(context, ["pg1"]);
  assert.ok(node !== undefined);
  const refused = { cluster: "demo", reason: "not_allowed", message: "Cannot feed cluster demo: not allowed" };
  const upstream = { url: "https://edge2:9443", state: "live", problem: null, refused: [refused] };
  const server = await serveCannedAnswers({
    "/status": { body: { clusters: [{ cluster: "demo", nodes: [statusNode("pg1", { api: node.api })] }] } },
    "/edges": { body: { balancers: [], upstreams: [upstream] } },
    "/fleet": { body: { fleet } },
  });
  context.after(() => server.close());
  const { diagnostics, coverage } = await doctorOf(node, server.url);
  return [
    ...diagnostics
      .filter(({ rule_id: rule }) => rule === "RC133" || rule === "RC134")
      .map(({ rule_id: rule, severity, message }) => [rule, severity, message]),
    coverage.find(({ id }) => id === "fleet")?.status,
  ];
}

const notFed = ["RC133", "warning", "https://edge2:9443: Cannot feed cluster demo: not allowed"];

test("doctor names the clusters that members do not share, and the key that differs", async (context) => {
  assert.deepEqual(await findings(context, shownFleet), [
    notFed,
    ["RC134", "warning", "demo and 1 more cluster: not shared with edge3:9443, because its probe.interval differs"],
    "complete",
  ]);
});

test("doctor says that two instances advertise one address", async (context) => {
  const problem = "another instance advertises the same address";
  assert.deepEqual(await findings(context, { ...shownFleet, phase: "stopped", problem, clusters: [] }), [
    notFed,
    ["RC134", "error", `edge1:9443 is apart from fleet edges: ${problem}`],
    "complete",
  ]);
});

test("doctor says that etcd takes nothing that the member writes", async (context) => {
  const problem = "kv/txn: etcd answers status 429, etcdserver: mvcc: database space exceeded";
  assert.deepEqual(await findings(context, { ...shownFleet, problem, clusters: [] }), [
    notFed,
    ["RC134", "error", `etcd refuses what edge1:9443 writes for fleet edges: ${problem}`],
    "complete",
  ]);
});

test("doctor does not know the fleet of a rolecall that was not reloaded", async (context) => {
  assert.deepEqual(await findings(context, null), [notFed, "not_checked"]);
});

test("doctor says why it could not ask the running rolecall", async (context) => {
  const [node] = await openFakeCluster(context, ["pg1"]);
  assert.ok(node !== undefined);
  const server = await serveCannedAnswers({ "/status": { status: 401, body: { message: "it needs a credential" } } });
  context.after(() => server.close());
  const { coverage } = await doctorOf(node, server.url);
  for (const id of ["fleet", "upstreams"]) {
    const check = coverage.find((one) => one.id === id);
    assert.equal(check?.status, "not_checked");
    assert.match(check.detail ?? "", /it needs a credential/, id);
  }
});
