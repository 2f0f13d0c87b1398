import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tlsProblems } from "../../src/config/tls-problems.ts";
import { runJson, runText } from "../fake/command-line.ts";
import { selfSignedCertificate } from "../fake/certificates.ts";
import { freePort } from "../fake/free-port.ts";
import { RolecallProcess, writeConfigFile } from "../fake/rolecall-process.ts";

const dayMs = 86_400_000;

test("names every problem of a certificate, its key and its CA file", (context) => {
  const own = selfSignedCertificate(context, undefined, 90);
  const other = selfSignedCertificate(context, undefined, 90);
  const files = { cert: own.certFile, key: own.keyFile, ca: own.certFile };
  const garbage = join(own.certFile, "..", "garbage.pem");
  const empty = join(own.certFile, "..", "empty.pem");
  writeFileSync(garbage, "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n", { mode: 0o600 });
  writeFileSync(empty, "", { mode: 0o600 });
  chmodSync(own.keyFile, 0o600);
  const now = Date.now();
  for (const [given, changed, atMs, expected] of [
    ["sound files", {}, now, []],
    ["no file at all", { cert: null, key: null, ca: null }, now, []],
    ["an expired certificate", { ca: null }, now + 91 * dayMs, ["expired"]],
    ["one that expires soon", { ca: null }, now + 80 * dayMs, ["expiring"]],
    ["one that is not valid yet", { ca: null }, now - dayMs, ["not_yet_valid"]],
    ["an expired CA too", {}, now + 91 * dayMs, ["expired", "expired"]],
    ["a missing certificate", { cert: "/no/such.pem" }, now, ["unusable"]],
    ["a missing key", { key: "/no/such.key" }, now, ["unusable"]],
    ["a missing CA", { ca: "/no/such.pem" }, now, ["unusable"]],
    ["the key of another certificate", { key: other.keyFile }, now, ["unusable"]],
    ["a certificate in the place of the key", { key: own.certFile, ca: null }, now, ["readable_by_others", "unusable"]],
    ["an unreadable certificate", { cert: garbage }, now, ["unusable"]],
    ["an empty CA", { ca: empty }, now, ["unusable"]],
  ] as const) {
    chmodSync(other.keyFile, 0o600);
    const problems = tlsProblems({ ...files, ...changed }, atMs);
    assert.deepEqual(
      problems.map(({ kind }) => kind),
      expected,
      `${given}: ${JSON.stringify(problems)}`,
    );
    for (const { file, message } of problems) assert.ok(message.startsWith(file), message);
  }
  chmodSync(own.keyFile, 0o644);
  assert.deepEqual(
    tlsProblems(files, now).map(({ kind }) => kind),
    ["readable_by_others"],
  );
  chmodSync(own.keyFile, 0o640);
  assert.deepEqual(tlsProblems(files, now), []);
});

/** A configuration file with one TLS listener. */
function withListener(context: TestContext, port: number, keys: string): string {
  const clusters = 'clusters: [{ name: demo, nodes: [{ name: pg1, api: "http://127.0.0.1:1" }] }]';
  return writeConfigFile(context, `${clusters}\nlisten: [{ port: ${port}, ${keys} }]\n`);
}

test("validate and doctor report a listener's files, and serve says what is wrong with them", async (context) => {
  const [own, other] = [selfSignedCertificate(context, undefined, 90), selfSignedCertificate(context, undefined, 90)];
  for (const { keyFile } of [own, other]) chmodSync(keyFile, 0o600);
  const port = await freePort();
  for (const [keys, rule, message] of [
    [`tls: { cert: ${own.certFile}, key: ${other.keyFile} }`, "RC111", /is not the key of the certificate/],
    [`tls: { cert: /no/such.pem, key: ${own.keyFile} }`, "RC111", /listen\[0\]\.tls: \/no\/such\.pem cannot be read/],
    ["auth: { bearer: [/no/such/tokens] }", "RC006", /listen\[0\]\.auth\.bearer\[0\]: \/no\/such\/tokens cannot be/],
  ] as const) {
    const file = withListener(context, port, keys);
    assert.doesNotMatch((await runText(["validate", file])).out, /is valid/);
    for (const argv of [
      ["validate", file],
      ["doctor", "--config", file],
    ]) {
      const { diagnostics, exit_code: code } = await runJson(argv);
      const found = diagnostics.filter(({ rule_id: id }) => id === rule);
      assert.equal(found.length, 1, JSON.stringify(diagnostics));
      assert.match(found[0]?.message ?? "", message);
      assert.notEqual(code, 0);
    }
    assert.equal((await runJson(["validate", "--no-files", file])).exit_code, 0);
    const running = new RolecallProcess(context, ["serve", "--config", file]);
    assert.equal(await running.exit, 2);
    assert.match(running.stderr, /RC111 .*certificate, key and token files must be readable and match/);
    assert.doesNotMatch(running.stderr, /choose another port/);
  }
  const sound = withListener(context, port, `tls: { cert: ${own.certFile}, key: ${own.keyFile} }`);
  assert.deepEqual((await runJson(["validate", sound])).diagnostics, []);
});
