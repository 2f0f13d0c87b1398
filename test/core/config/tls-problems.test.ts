import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tlsProblems } from "../../../src/core/config/tls-problems.ts";
import { selfSignedCertificate } from "../../fake/certificates.ts";

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
