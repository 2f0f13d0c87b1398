import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { FakeApiServer } from "../../fake/fake-api-server.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { neededRights } from "../../../src/features/kubernetes/core/needed-rights.ts";

/** Runs doctor with one Service. Returns the findings about it. */
async function findings(
  context: TestContext,
  server: FakeApiServer,
  more = "",
  ofCluster = "",
): Promise<readonly string[]> {
  const [pg1] = await openFakeCluster(context, ["pg1", "pg2"]);
  const file = join(temporaryFolder("doctor"), "rolecall.yaml");
  writeFileSync(
    file,
    `
clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }]${ofCluster} }]
pools: [{ name: writes, cluster: demo, check: /primary }]
kubernetes: { kubeconfig: ${server.kubeconfig()}, services: [{ pool: writes, service: databases/orders${more} }] }
listen: [{ port: 0 }]
`,
  );
  const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  return diagnostics
    .filter(({ rule_id: id }) => /^RC(18[0-3]|12[5-7])$/.test(id))
    .map(({ rule_id: id, severity, message }) => `${id} ${severity}: ${message}`);
}

async function serverWith(context: TestContext, spec: object = {}): Promise<FakeApiServer> {
  const server = await FakeApiServer.open(context);
  server.put("services", {
    metadata: { name: "orders" },
    spec: { ports: [{ name: "postgres", port: 5432 }], ...spec },
  });
  return server;
}

test("a Service that rolecall may publish is no finding", async (context) => {
  assert.deepEqual(await findings(context, await serverWith(context)), []);
});

test("RC180: reports an API server that does not answer, or not to rolecall", async (context) => {
  const server = await serverWith(context);
  server.misbehave = () => ({ kind: "reset" });
  assert.match(
    (await findings(context, server)).join(),
    /^RC180 error: the API server of Kubernetes: connection closed/,
  );
  server.misbehave = ({ token }) => (token === "good" ? { kind: "answer", status: 401, body: "{}" } : null);
  assert.deepEqual(await findings(context, server), ["RC180 error: the API server of Kubernetes: status 401"]);
});

test("RC181: each right that is missing is named", async (context) => {
  const server = await serverWith(context);
  for (const { resource, verb } of neededRights) {
    server.denied.clear();
    server.denied.add(`${verb} ${resource}`);
    const found = await findings(context, server);
    assert.equal(found[0], `RC181 error: rolecall needs in databases: ${verb} on ${resource}`);
  }
  server.denied.add("patch endpointslices").add("create endpointslices");
  assert.equal(
    (await findings(context, server))[0],
    "RC181 error: rolecall needs in databases: create, patch on endpointslices; create on events",
  );
});

test("RC182: reports a Service that is not there, or has not the port", async (context) => {
  const server = await serverWith(context);
  assert.deepEqual(await findings(context, server, ", port: pg"), [
    "RC182 error: Service orders in databases must have the port pg, got postgres",
  ]);
  server.delete("services", "orders");
  assert.deepEqual(await findings(context, server), ["RC182 error: there is no Service orders in databases"]);
});

test("RC183: reports what else decides where the Service leads", async (context) => {
  const server = await serverWith(context, { selector: { app: "x" } });
  assert.match((await findings(context, server)).join(), /^RC183 error: .* must not have a selector/);
  server.put("services", { metadata: { name: "orders" }, spec: { ports: [{ name: "postgres", port: 5432 }] } });
  const labels = {
    "kubernetes.io/service-name": "orders",
    "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
  };
  server.put("endpointslices", { metadata: { name: "orders-abcde", labels } });
  assert.match(
    (await findings(context, server)).join(),
    /^RC183 error: EndpointSlice orders-abcde .* mirrors the Endpoints orders$/,
  );
});

const watched = ", dcs: { kubernetes: {} }";

function leader(server: FakeApiServer, name: string): void {
  const labels = { "cluster-name": "demo" };
  server.put("configmaps", { metadata: { name: "demo-leader", labels, annotations: { leader: name } } });
}

test("a leader that Patroni keeps in Kubernetes is compared with the node that holds the lock", async (context) => {
  const server = await serverWith(context);
  assert.deepEqual(await findings(context, server, "", watched), [
    "RC126 error: cluster demo: no key next to /api/v1/namespaces/databases/configmaps/demo-leader",
  ]);
  leader(server, "pg1");
  assert.deepEqual(await findings(context, server, "", watched), []);
  leader(server, "pg2");
  assert.deepEqual(await findings(context, server, "", watched), [
    "RC127 error: cluster demo: /api/v1/namespaces/databases/configmaps/demo-leader names pg2, but pg1 holds the lock",
  ]);
});

test("RC181 and RC125: the rights to read that leader are named", async (context) => {
  const server = await serverWith(context);
  leader(server, "pg1");
  for (const right of ["list", "watch"]) server.denied.add(`${right} configmaps`);
  const [missing, unread] = await findings(context, server, "", watched);
  assert.equal(missing, "RC181 error: rolecall needs in databases: list, watch on configmaps");
  assert.match(unread ?? "", /^RC125 error: cluster demo: .* status 403: .*cannot list resource "configmaps"/);
});
