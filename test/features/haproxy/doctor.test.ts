import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { FakeHaproxy } from "../../fake/fake-haproxy.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";

/** Runs doctor with one balancer. Returns rule, severity and message of each finding about balancers. */
async function findings(context: TestContext, haproxy: string): Promise<readonly (readonly string[])[]> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const configured = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  const balancers = `balancers: [{ name: edge, haproxy: ${haproxy} }]`;
  writeFileSync(file, `clusters: [{ name: demo, nodes: [${configured}] }]\nlisten: [{ port: 0 }]\n${balancers}\n`);
  const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  return diagnostics
    .filter(({ rule_id: id }) => id.startsWith("RC13"))
    .map(({ rule_id: id, severity, message }) => [id, severity, message]);
}

test("RC137, RC138: reports names that HAProxy does not have, and servers without a check", async (context) => {
  const haproxy = new FakeHaproxy(["w/pg1", "w/pg2"]);
  haproxy.at("w/pg2").checkState = 0;
  await haproxy.listen(context);
  const backends = "[{ name: w, check: /primary }, { name: x, check: /replica }]";
  assert.deepEqual(await findings(context, `{ socket: "127.0.0.1:${haproxy.port}", backends: ${backends} }`), [
    ["RC138", "warning", "balancer edge: w/pg2 has no check in HAProxy, so rolecall does not set it"],
    ["RC137", "error", "balancer edge: backend w has no server pg3; it has pg1, pg2"],
    ["RC137", "error", "balancer edge: HAProxy has no backend x"],
  ]);
  assert.deepEqual(haproxy.commands, [], "doctor changes nothing");
});

test("RC137: says whether rolecall adds a server that is missing", async (context) => {
  const haproxy = new FakeHaproxy(["w/pg1", "w/pg2"]);
  await haproxy.listen(context);
  const backends = "[{ name: w, check: /primary, follow_members: check inter 1s }]";
  const lacking = "balancer edge: backend w has no server pg3; it has pg1, pg2";
  const found = async (): Promise<unknown> =>
    findings(context, `{ socket: "127.0.0.1:${haproxy.port}", backends: ${backends} }`);
  assert.deepEqual(await found(), [["RC137", "info", `${lacking}; rolecall adds it while it serves`]]);
  haproxy.version = "2.5.14";
  assert.deepEqual(await found(), [["RC137", "error", `${lacking}; HAProxy 2.5.14 cannot add it, 2.6 can`]]);
});

test("RC136: reports a socket without level admin", async (context) => {
  const haproxy = new FakeHaproxy(["w/a"]);
  haproxy.fault = "operator";
  await haproxy.listen(context);
  const backends = "[{ name: w, check: /primary, servers: { a: pg1 } }]";
  assert.deepEqual(await findings(context, `{ socket: "127.0.0.1:${haproxy.port}", backends: ${backends} }`), [
    ["RC136", "error", "balancer edge: the socket must have level admin, got operator"],
  ]);
});

test("RC135: reports a socket that does not exist", async (context) => {
  const backends = "[{ name: w, check: /primary }]";
  assert.deepEqual(await findings(context, `{ socket: /no/such/socket, backends: ${backends} }`), [
    ["RC135", "error", "balancer edge: Cannot use the Runtime API: the socket does not exist (ENOENT)"],
  ]);
});
