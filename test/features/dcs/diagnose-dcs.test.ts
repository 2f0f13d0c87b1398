import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { FakeEtcd } from "../../fake/fake-etcd.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";

/** Runs doctor with one cluster, led by pg1. Returns the findings about its DCS, and how far it was covered. */
async function findings(
  context: TestContext,
  dcs: string,
  versions: readonly [string, string] = ["4.1.4", "4.1.4"],
): Promise<readonly string[]> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  for (const [at, node] of nodes.entries())
    node.fields = { patroni: { version: versions[at], scope: "demo", name: node.name } };
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const configured = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  writeFileSync(file, `clusters: [{ name: demo, nodes: [${configured}], dcs: ${dcs} }]\nlisten: [{ port: 0 }]\n`);
  const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  return diagnostics
    .filter(({ rule_id: id }) => ["RC124", "RC125", "RC126", "RC127"].includes(id))
    .map(({ rule_id: id, severity, message }) => `${id} ${severity}: ${message}`);
}

async function etcdWith(context: TestContext, keys: Readonly<Record<string, string>>): Promise<FakeEtcd> {
  const etcd = await FakeEtcd.start();
  context.after(() => etcd.close());
  for (const [key, value] of Object.entries(keys)) etcd.put(key, value);
  return etcd;
}

test("a leader key that names the leader is no finding", async (context) => {
  const etcd = await etcdWith(context, { "/service/demo/leader": "pg1" });
  assert.deepEqual(await findings(context, `{ etcd: ["${etcd.url}"] }`), []);
});

test("the next member is read if one does not answer", async (context) => {
  const etcd = await etcdWith(context, { "/service/demo/leader": "pg1" });
  assert.deepEqual(await findings(context, `{ etcd: ["http://127.0.0.1:1", "${etcd.url}"] }`), []);
});

test("RC127: reports a leader key that names another node, or nobody", async (context) => {
  const etcd = await etcdWith(context, { "/service/demo/leader": "pg2" });
  assert.deepEqual(await findings(context, `{ etcd: ["${etcd.url}"] }`), [
    "RC127 error: cluster demo: /service/demo/leader names pg2, but pg1 holds the lock",
  ]);
  etcd.put("/service/demo/config", "{}");
  etcd.delete("/service/demo/leader");
  assert.deepEqual(await findings(context, `{ etcd: ["${etcd.url}"] }`), [
    "RC127 error: cluster demo: /service/demo/leader names nobody, but pg1 holds the lock",
  ]);
});

test("RC126: reports a prefix or scope without keys", async (context) => {
  const etcd = await etcdWith(context, { "/service/demo/leader": "pg1" });
  for (const key of ["prefix: /db", "scope: other"])
    assert.match(
      (await findings(context, `{ etcd: ["${etcd.url}"], ${key} }`)).join(),
      /^RC126 error: .* no key next to /,
    );
});

test("RC125: reports a DCS that cannot be read, and why", async (context) => {
  const etcd = await etcdWith(context, { "/service/demo/leader": "pg1" });
  etcd.faults.garbage = "<html>";
  assert.deepEqual(await findings(context, `{ etcd: ["${etcd.url}"] }`), [
    "RC125 error: cluster demo: the response must be of etcd's range call, got something else",
  ]);
  etcd.faults.garbage = null;
  etcd.faults.token = "unknown";
  assert.match((await findings(context, `{ etcd: ["${etcd.url}"] }`)).join(), /^RC125 error: .* status 401, /);
  assert.match(
    (await findings(context, `{ etcd: ["http://127.0.0.1:1"] }`)).join(),
    /^RC125 error: .*connection refused/,
  );
  const auth = "auth: { user: rolecall, password_file: /no/such/file }";
  assert.match(
    (await findings(context, `{ etcd: ["${etcd.url}"], ${auth} }`)).join(),
    /^RC125 error: .*\/no\/such\/file/,
  );
});

test("RC124: reports nodes whose Patroni overwrites the leader key, where it is in etcd", async (context) => {
  const etcd = await etcdWith(context, { "/service/demo/leader": "pg1" });
  const dcs = `{ etcd: ["${etcd.url}"] }`;
  const rows = [
    { versions: ["3.0.2", "4.1.4"], reported: "pg1 (3.0.2)" },
    { versions: ["2.1.4", "3.0.0"], reported: "pg1 (2.1.4), pg2 (3.0.0)" },
    { versions: ["3.0.3", "3.1.0"], reported: null },
    { versions: ["unknown", "4.0.0rc1"], reported: null },
  ] as const;
  for (const { versions, reported } of rows)
    assert.deepEqual(
      await findings(context, dcs, versions),
      reported === null ? [] : [`RC124 warning: cluster demo: Patroni of ${reported} is older than 3.0.3`],
    );
  assert.deepEqual(await findings(context, "null", ["3.0.2", "3.0.2"]), [], "where the lock is, is not known");
});
