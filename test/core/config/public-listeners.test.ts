import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";
import { isLoopback } from "../../../src/core/config/values/loopback.ts";
import { writeConfigFile } from "../../fake/config-file.ts";

/** Keys of an admin listener that may be opened. */
const accepted: readonly string[] = [
  "address: 127.0.0.1",
  "address: 127.9.9.9",
  'address: "::1"',
  'address: "[::1]"',
  'address: "0:0:0:0:0:0:0:1"',
  'address: "::ffff:127.0.0.1"',
  "address: LOCALHOST",
  "address: 0.0.0.0, read_only: true",
  "address: 0.0.0.0, allow: [10.0.0.0/8]",
  "address: 0.0.0.0, allow: [10.0.0.0/8], allow_for: unsafe",
  "address: 0.0.0.0, auth: { bearer: [tokens] }",
  "address: 0.0.0.0, auth: { bearer: [tokens], for: unsafe }",
  'address: "::", tls: { cert: a.pem, key: a.key, ca: ca.pem, client: required }',
];

suite("an admin listener is accepted", () => {
  for (const keys of accepted) {
    test(`with ${keys}`, (context) => {
      const file = writeConfigFile(
        context,
        `clusters: [{ name: demo, discover: ["http://10.0.0.1:8008"] }]\n` +
          `listen: [{ port: 9108, dialect: admin, ${keys} }]\n`,
      );
      const loaded = loadConfig({ file, env: {}, flags: {} });
      assert.ok(loaded.ok, loaded.ok ? "" : renderProblems(loaded.problems));
    });
  }
});

test("an exporter listener and a node listener without management may be public, as the nodes' own are", (context) => {
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, discover: ["http://10.0.0.1:8008"] }]
listen:
  - { address: 0.0.0.0, port: 8008 }
  - { address: 0.0.0.0, port: 9630, dialect: exporter, cluster: demo }
  - { address: 0.0.0.0, port: 9631, dialect: exporter, cluster: demo, read_only: true }
`,
  );
  assert.ok(loadConfig({ file, env: {}, flags: {} }).ok);
});

test("the head of a request has 10 s, or as long as the whole request if that is less", (context) => {
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, discover: ["http://10.0.0.1:8008"] }]
listen:
  - { port: 1, limits: { request_timeout: 5s } }
  - { port: 2, limits: { request_timeout: 5min } }
  - { port: 3 }
`,
  );
  const loaded = loadConfig({ file, env: {}, flags: {} });
  assert.ok(loaded.ok);
  const limits = loaded.config.listen.map(({ access }) => access.limits);
  assert.deepEqual(
    limits.map(({ headerTimeoutMs, requestTimeoutMs }) => [headerTimeoutMs, requestTimeoutMs]),
    [
      [5_000, 5_000],
      [10_000, 300_000],
      [10_000, 30_000],
    ],
  );
});

test("only addresses of this machine's loopback interface are loopback addresses", () => {
  for (const address of [
    "127.0.0.1",
    "127.255.0.3",
    "::1",
    "::ffff:127.0.0.1",
    "::FFFF:7f00:1",
    "localhost",
    "localhost.",
  ])
    assert.ok(isLoopback(address), address);
  for (const address of [
    "0.0.0.0",
    "::",
    "::ffff:0.0.0.0",
    "10.0.0.1",
    "::ffff:10.0.0.1",
    "127.example.org",
    "",
    "fe80::1%lo",
  ])
    assert.ok(!isLoopback(address), address);
});
