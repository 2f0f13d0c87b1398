import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gatewayFixtureOf } from "../fake/gateway-fixture.ts";
import { clusterOf, configOf, nodeOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { ClusterFixture } from "../fake/cluster-fixture.ts";
import { withholdsPassword } from "../../src/health/evidence/node-password.ts";
import { policyOf } from "../../src/state/clusters.ts";
import { parseCheck } from "../../src/health/check.ts";
import { explain } from "../../src/health/explain/explain.ts";
import { viewAt } from "../../src/health/evidence/cluster-view.ts";
import { runJson } from "../fake/command-line.ts";

const auth = { user: "admin", passwordFile: "/nowhere" };
const tls = { ca: null, cert: null, key: null, serverName: null };
const inTls = "https://pg1:8008";

/** Whether the password is withheld from a node with this address, in a cluster with this configuration. */
const rows: readonly {
  readonly given: string;
  readonly cluster: Parameters<typeof clusterOf>[0];
  readonly api: string;
  readonly withheld: boolean;
}[] = [
  {
    given: "https seeds, a discovered http address",
    cluster: { auth, discover: [inTls] },
    api: "http://pg2:8008",
    withheld: true,
  },
  {
    given: "a tls section, a discovered http address",
    cluster: { auth, tls, discover: ["http://pg1:8008"] },
    api: "http://pg2:8008",
    withheld: true,
  },
  {
    given: "an https node, a discovered http address",
    cluster: { auth, discover: ["http://pg1:8008"], nodes: [nodeOf({ name: "pg1", api: inTls })] },
    api: "http://pg2:8008",
    withheld: true,
  },
  {
    given: "https seeds, a discovered https address",
    cluster: { auth, discover: [inTls] },
    api: "https://pg2:8008",
    withheld: false,
  },
  {
    given: "https seeds, an http address that the configuration names",
    cluster: { auth, discover: [inTls], nodes: [nodeOf({ name: "pg2", api: "http://pg2:8008" })] },
    api: "http://pg2:8008",
    withheld: false,
  },
  {
    given: "http seeds alone",
    cluster: { auth, discover: ["http://pg1:8008"] },
    api: "http://pg2:8008",
    withheld: false,
  },
  { given: "no password", cluster: { discover: [inTls] }, api: "http://pg2:8008", withheld: false },
];

for (const { given, cluster, api, withheld } of rows) {
  test(`the password is ${withheld ? "withheld from" : "sent to"} a node: ${given}`, () => {
    const policy = policyOf(clusterOf(cluster), configOf({ clusters: [] }).probe);
    assert.equal(withholdsPassword({ api }, policy), withheld);
  });
}

test("explain says that the password is withheld", () => {
  const watched = new ClusterFixture({ nodes: [], cluster: { auth, discover: [inTls] } });
  const members = ["http://pg1:8008", "https://pg2:8008"].map((api, at) => ({
    name: `pg${at + 1}`,
    role: "replica",
    api_url: `${api}/patroni`,
  }));
  watched.document("cluster", { of: "https://pg1:8008", value: { scope: "demo", members } }, 0);
  const isWithheld = ["pg1", "pg2"].map((name) => {
    watched.follow(name, 0);
    const view = viewAt(watched.cluster, watched.policy, 0);
    const check = parseCheck("replica", "", {
      ignoreParams: [],
      ignoresUnknown: false,
      defaults: "",
      lagTimeMsMin: 0,
    });
    const node = watched.cluster.nodes[watched.cluster.index.get(name) ?? -1];
    assert.ok(check.ok && node !== undefined);
    return explain(view, node, check.check).rules.some(
      ({ rule, value }) => rule === "node password" && value.includes("withheld"),
    );
  });
  assert.deepEqual(isWithheld, [true, false]);
});

function passwordIn(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-password-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "password"), "hunter2\n");
  return folder;
}

test("refuses calls with the password to an http address from a member list in a cluster with TLS", async (context) => {
  const folder = passwordIn(context);
  const [pg1, pg2] = await openFakeCluster(context, ["pg1", "pg2"]);
  assert.ok(pg1 !== undefined && pg2 !== undefined);
  const cluster = {
    auth: { user: "admin", passwordFile: join(folder, "password") },
    discover: [pg1.api, "https://127.0.0.1:1"],
  };
  const gateway = await gatewayFixtureOf([], { cluster });
  context.after(() => gateway.close());
  const refused = await gateway.request("/nodes/pg2/reload", { method: "POST" });
  assert.equal(refused.status, 503, refused.body);
  assert.equal(refused.headers["x-rolecall-reason"], "password_in_clear");
  assert.match(refused.body, /https in a cluster with TLS/);
  assert.ok(!pg2.requests.includes("/reload"));
  const dryRun = await gateway.request("/nodes/pg2/reload?dry_run=1", { method: "POST" });
  assert.match(dryRun.body, /"would":"refuse".*password_in_clear/);
  await gateway.request("/nodes/pg1/reload", { method: "POST" });
  assert.ok(pg1.requests.includes("/reload"), "the configuration names this address itself");
  const withheld = gateway.logRecords.filter(({ msg }) => String(msg).startsWith("node password withheld"));
  assert.deepEqual(
    withheld.map(({ node }) => node),
    ["pg2"],
  );
  assert.ok(gateway.logRecords.some((line) => line["problem"] === "password_in_clear"));
});

test("RC113: doctor reports nodes from which the password is withheld", async (context) => {
  const folder = passwordIn(context);
  const [pg1] = await openFakeCluster(context, ["pg1", "pg2"]);
  const file = join(folder, "rolecall.yaml");
  const cluster = `{ name: demo, discover: ["${pg1?.api}", "https://127.0.0.1:1"], auth: { user: admin, password_file: password } }`;
  writeFileSync(file, `clusters: [${cluster}]\nlisten: [{ port: 0 }]\n`);
  const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  const found = diagnostics.filter(({ rule_id: id }) => id === "RC113");
  assert.deepEqual(
    found.map(({ message }) => message.split(" ")[0]),
    ["demo/pg2"],
  );
});
