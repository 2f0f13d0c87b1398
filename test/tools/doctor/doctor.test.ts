import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { expiredCopyOf, selfSignedCertificate, type SelfSignedCertificate } from "../../fake/certificates.ts";
import { runJson, runText } from "../../fake/command-line.ts";
import { freePort } from "../../fake/free-port.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { openFakeNode } from "../../fake/fake-node.ts";

/**
 * Runs doctor on a cluster `demo` of these nodes, without haproxy. Returns rule, severity and message of each finding.
 */
async function findings(
  context: TestContext,
  nodes: string,
  tls = "",
): Promise<readonly (readonly [string, string, string])[]> {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, `clusters: [{ name: demo, nodes: [${nodes}]${tls} }]\nlisten: [{ port: 0 }]\n`);
  const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  return diagnostics.map(({ rule_id: id, severity, message }) => [id, severity, message]);
}

function nodeText(name: string, api: string): string {
  return `{ name: ${name}, api: "${api}", database: "10.0.0.1:5432" }`;
}

const clocks: readonly (readonly [string, number, RegExp | null])[] = [
  // The estimate is up to 500 ms plus half of the response time off; clocks.test.ts tests the exact figures.
  ["reports a clock that is two minutes ahead", 120_000, /^the clock of demo\/pg1 is about 1(19|20|21) s ahead of the/],
  ["reports a clock that is two minutes behind", -120_000, /^the clock of demo\/pg1 is about 1(19|20|21) s behind the/],
  ["ignores a clock that is one second off, because the header has whole seconds", 1_000, null],
];

for (const [title, skewMs, message] of clocks) {
  test(`RC103: ${title}`, async (context) => {
    const node = await openFakeNode({
      name: "pg1",
      holdsLock: true,
      respond: (_, response) =>
        void response.writeHead(200, { Date: new Date(Date.now() + skewMs).toUTCString() }).end("{}"),
    });
    context.after(() => node.close());
    const found = await findings(context, nodeText("pg1", node.api));
    assert.equal(node.received.filter(({ path }) => path === "/patroni").length, 1);
    assert.equal(found.length, message === null ? 0 : 1, JSON.stringify(found));
    if (message !== null)
      assert.deepEqual([found[0]?.[0], found[0]?.[1], message.test(found[0]?.[2] ?? "")], ["RC103", "warning", true]);
  });
}

test("RC105: reports different system identifiers with the names of the nodes", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const configured = nodes.map(({ name, api }) => nodeText(name, api)).join(", ");
  assert.deepEqual(await findings(context, configured), []);
  const [, , third] = nodes;
  assert.ok(third !== undefined);
  third.fields = { database_system_identifier: "7000000000000000002" };
  const found = await findings(context, configured);
  const message = "cluster demo has system identifiers 7000000000000000001 (pg1, pg2), 7000000000000000002 (pg3)";
  assert.deepEqual(found, [["RC105", "error", message]]);
});

test("RC166: compares the name that a node reports with the configuration", async (context) => {
  const [node] = await openFakeCluster(context, ["pg1"]);
  assert.ok(node !== undefined);
  node.fields = { patroni: { version: "4.0.0", scope: "demo", name: "pg1" } };
  assert.deepEqual(await findings(context, nodeText("pg1", node.api)), []);
  for (const [configured, expected] of [
    ["db1", "db1"],
    ["db1, member: pg2", "pg2"],
  ] as const) {
    const message: string = `demo/db1 at ${node.api} reports the name pg1, not ${expected}`;
    assert.deepEqual(await findings(context, nodeText(configured, node.api)), [["RC166", "error", message]]);
  }
  assert.deepEqual(await findings(context, nodeText("db1, member: pg1", node.api)), []);
});

/** Runs doctor on a node that presents a certificate, which the file `ca` verifies. */
async function findingsOfTls(
  context: TestContext,
  presented: SelfSignedCertificate,
  ca: string,
): ReturnType<typeof findings> {
  const node = await openFakeNode({
    name: "pg1",
    holdsLock: true,
    tls: { cert: presented.cert, key: presented.key },
    respond: (_, response) => void response.end("{}"),
  });
  context.after(() => node.close());
  return findings(context, nodeText("pg1", node.api), `, tls: { ca: "${ca}" }`);
}

test("RC109: reports a node certificate and a CA file that expire within days", async (context) => {
  const certificate = selfSignedCertificate(context);
  const found = await findingsOfTls(context, certificate, certificate.certFile);
  assert.deepEqual(
    new Set(found.map((one) => one.join(" ").replace(/ in \d+ days: .*/, ""))),
    new Set([
      "RC109 warning the certificate of demo/pg1 expires",
      `RC109 warning cluster demo: ${certificate.certFile} expires`,
    ]),
  );
});

test("RC109: reports an expired CA file as an error", async (context) => {
  const certificate = selfSignedCertificate(context, undefined, 90);
  assert.deepEqual(await findingsOfTls(context, certificate, certificate.certFile), []);
  const expiredFile = expiredCopyOf(certificate);
  const [expiry, ...others] = (await findingsOfTls(context, certificate, expiredFile)).filter(([id]) => id === "RC109");
  assert.deepEqual([expiry?.[1], others], ["error", []]);
  assert.match(expiry?.[2] ?? "", /expired\.pem has expired: \d{4}-/);
});

test("where nothing runs, it says that only files were checked, and how to check them alone", async (context) => {
  const [port, free] = [await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const nodes = nodeText("pg1", `http://127.0.0.1:${free}`);
  writeFileSync(file, `clusters: [{ name: demo, nodes: [${nodes}] }]\nlisten: [{ port: ${port} }]\n`);
  for (const argv of [
    ["doctor", file],
    ["doctor", "--config", file],
  ]) {
    const { code, out } = await runText([...argv, "--haproxy", "/no/such/haproxy"]);
    assert.equal(code, 2, "what the nodes would say is not known");
    assert.ok(
      out.includes(
        "No node answered, and no rolecall of this configuration runs here: only files were checked. To check them " +
          `alone: rolecall doctor ${file} --offline\n`,
      ),
      out,
    );
  }
  assert.deepEqual(await runText(["doctor", file, "--offline"]), {
    code: 0,
    out: `${file} is valid: 1 cluster, 1 listener\n`,
    err: "",
  });
});

test("where a node answers, it says nothing of files alone", async (context) => {
  const [node] = await openFakeCluster(context, ["pg1"]);
  assert.ok(node !== undefined);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, `clusters: [{ name: demo, nodes: [${nodeText("pg1", node.api)}] }]\nlisten: [{ port: 0 }]\n`);
  const { out } = await runText(["doctor", file, "--haproxy", "/no/such/haproxy"]);
  assert.doesNotMatch(out, /only files were checked/);
});
