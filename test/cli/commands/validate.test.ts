import assert from "node:assert/strict";
import { test } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";

test("validate names each file of a fleet that cannot be read", async () => {
  const file = "test/spec/config/every-fleet-key.yaml";
  const { diagnostics, exit_code: code } = await runJson(["doctor", "--offline", file]);
  const found = diagnostics.map(({ rule_id: id, message }) => `${id} ${message.split(": ", 1)[0]}`);
  assert.deepEqual(
    new Set(found),
    new Set([
      "RC111 fleet.tls",
      "RC006 fleet.token_file",
      "RC111 fleet.etcd.tls",
      "RC006 fleet.etcd.auth.password_file",
    ]),
  );
  assert.equal(code, 1);
  const unread = await runJson(["doctor", "--offline", file, "--no-files"]);
  assert.deepEqual([unread.diagnostics, unread.exit_code], [[], 0]);
});

test("validate and doctor name each removed key with its line, as warnings, and the file is valid", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const rows = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}", database: "10.0.0.1:5432" }`).join(", ");
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [${rows}] }]\nlisten:\n  - port: 0\n    limits: { body: 7kB }\nfast_lane: false\n`,
  );
  const expected = [
    [
      "RC021",
      "warning",
      4,
      "/listen/0/limits/body",
      "listen[0].limits.body: was removed, and has no effect: the body of a management call has at most 1MB. " +
        "From 2.0 on it is an error",
    ],
    ["RC021", "warning", 5, "/fast_lane", "fast_lane: was renamed: use fast_path. From 2.0 on it is an error"],
  ];
  for (const argv of [
    ["doctor", file, "--offline"],
    ["doctor", "--config", file, "--haproxy", "/no/such/haproxy"],
  ]) {
    const { diagnostics, exit_code: code } = await runJson(argv);
    assert.deepEqual(
      diagnostics.map(({ rule_id: id, severity, location, message }) => [
        id,
        severity,
        location?.line,
        location?.pointer,
        message,
      ]),
      expected,
    );
    assert.equal(code, 0);
  }
});
