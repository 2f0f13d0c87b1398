/** What doctor says of the addresses of discovered members (rule 10). */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { freePort } from "../../fake/free-port.ts";
import { runJson } from "../../fake/command-line.ts";
import { openFakeCluster, openFakeNode, type FakeNode } from "../../fake/fake-node.ts";

/** Runs doctor with a cluster that is discovered from nodes. Returns the findings about addresses. */
async function findings(context: TestContext, seeds: readonly FakeNode[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const discover = seeds.map(({ api }) => `"${api}"`).join(", ");
  writeFileSync(file, `clusters: [{ name: demo, discover: [${discover}] }]\nlisten: [{ port: 0 }]\n`);
  const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  return diagnostics
    .filter(({ rule_id: id }) => ["RC167", "RC168", "RC172"].includes(id))
    .map(({ rule_id: id, severity, message }) => `${id} ${severity}: ${message}`);
}

/** Gives a node the name that it states. */
function state(node: FakeNode, name = node.name): void {
  node.fields = { patroni: { version: "4.1.4", scope: "demo", name } };
}

test("members at their listed addresses are no finding", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  for (const node of nodes) state(node);
  assert.deepEqual(await findings(context, nodes), []);
});

test("RC167: two hosts that use one name", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  for (const node of nodes) state(node);
  const other = await openFakeNode({ name: "pg3", holdsLock: false });
  context.after(() => other.close());
  state(other);
  const [, , third] = nodes;
  const addresses = [third?.api ?? "", other.api].toSorted().join(" and ");
  assert.deepEqual(await findings(context, [...nodes, other]), [`RC167 error: demo: ${addresses} use the name pg3`]);
});

test("RC167: a host that answers under the name of a member that does not answer at its own address", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const [first, second, third] = nodes;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  for (const node of nodes) state(node);
  third.members = new Map([["pg2", third.api]]);
  state(third, "pg2");
  await second.close();
  const found = await findings(context, nodes);
  await second.open();
  assert.deepEqual(found, [`RC167 error: demo: ${third.api} answers as pg2, but other nodes list pg2 elsewhere`]);
});

test("RC168: a member that the lists have without a usable address", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  for (const node of nodes) {
    state(node);
    node.members = new Map([...node.members, ["pg3", "http://:8008/patroni"]]);
  }
  assert.deepEqual(await findings(context, nodes), [
    "RC168 warning: demo: member pg3 is listed without a usable api_url",
  ]);
});

test("RC168: every other member that is left out, with the cause", async (context) => {
  const [first, second] = await openFakeCluster(context, ["pg1", "pg2"]);
  assert.ok(first !== undefined && second !== undefined);
  for (const node of [first, second]) {
    state(node);
    node.members = new Map([...node.members, ["pg3", first.api], ["a/b", "http://127.0.0.1:1"]]);
  }
  assert.deepEqual(await findings(context, [first, second]), [
    "RC168 warning: demo: a member is listed under a name that cannot be used: a/b",
    "RC168 warning: demo: member pg3 is listed with the api_url of another member",
  ]);
});

test("a member without a usable address in the lists is no finding if it answers at an address of discover", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  for (const node of nodes) {
    state(node);
    node.members = new Map([...node.members, ["pg2", "http://:8008/patroni"]]);
  }
  assert.deepEqual(await findings(context, nodes), []);
});

test("RC172: members that are reached at addresses of discover alone, because those that are listed never answer", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const silent = await freePort();
  for (const node of nodes) {
    state(node);
    node.members = new Map(nodes.map(({ name }, at) => [name, `http://127.0.0.${at + 2}:${silent}/patroni`]));
  }
  assert.deepEqual(
    await findings(context, nodes),
    nodes.map(({ name, api }) => `RC172 warning: demo: ${name} answers at ${api}, which no list has`),
  );
});
