import assert from "node:assert/strict";
import { test } from "node:test";
import { runJson } from "../../fake/command-line.ts";

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
