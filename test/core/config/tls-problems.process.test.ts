import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { runJson, runText } from "../../fake/command-line.ts";
import { selfSignedCertificate } from "../../fake/certificates.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

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
    assert.doesNotMatch((await runText(["doctor", "--offline", file])).out, /is valid/);
    for (const argv of [
      ["doctor", "--offline", file],
      ["doctor", "--config", file],
    ]) {
      const { diagnostics, exit_code: code } = await runJson(argv);
      const found = diagnostics.filter(({ rule_id: id }) => id === rule);
      assert.equal(found.length, 1, JSON.stringify(diagnostics));
      assert.match(found[0]?.message ?? "", message);
      assert.notEqual(code, 0);
    }
    assert.equal((await runJson(["doctor", "--offline", "--no-files", file])).exit_code, 0);
    const running = new RolecallProcess(context, ["serve", "--config", file]);
    assert.equal(await running.exit, 2);
    assert.match(running.stderr, /RC111 .*certificate, key and token files must be readable and match/);
    assert.doesNotMatch(running.stderr, /choose another port/);
  }
  const sound = withListener(context, port, `tls: { cert: ${own.certFile}, key: ${own.keyFile} }`);
  assert.deepEqual((await runJson(["doctor", "--offline", sound])).diagnostics, []);
});
