import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gatewayFixtureOf } from "../../fake/gateway-fixture.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { runJson } from "../../fake/command-line.ts";

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
