import assert from "node:assert/strict";
import { test } from "node:test";
import { execute, redact } from "../../../../src/core/command/result/evidence.ts";

const signal = new AbortController().signal;
const node = (script: string, timeoutMs = 10_000): ReturnType<typeof execute> =>
  execute({ command: process.execPath, args: ["-e", script], timeoutMs, signal });

test("records the arguments, output and exit code of a program", async () => {
  const evidence = await execute({
    command: process.execPath,
    args: ["-e", "console.log('out'); console.error('err'); process.exitCode = 3"],
    directory: "/",
    timeoutMs: 10_000,
    signal,
  });
  assert.deepEqual(evidence.command.slice(1, 2), ["-e"]);
  assert.equal(evidence.directory, "/");
  assert.equal(evidence.stdout, "out\n");
  assert.equal(evidence.stderr, "err\n");
  assert.equal(evidence.exit_code, 3);
});

test("records -1 and the error for a program that does not exist", async () => {
  const evidence = await execute({ command: "/no/such/program", args: [], timeoutMs: 1_000, signal });
  assert.equal(evidence.exit_code, -1);
  assert.match(evidence.stderr, /not started/);
});

test("kills a program at the timeout", async () => {
  const evidence = await node("setInterval(() => {}, 1000)", 300);
  assert.equal(evidence.exit_code, -1);
  assert.match(evidence.stderr, /killed by SIGTERM/);
});

test("truncates long output, with a note of its length", async () => {
  const evidence = await node("process.stdout.write('x'.repeat(1_000_000))");
  assert.ok(evidence.stdout.length < 66_000);
  assert.match(evidence.stdout, /\[truncated: the first 65536 of 1000000 bytes\]/);
});

const secrets: readonly (readonly [string, string])[] = [
  ["http://user:hunter2@10.0.0.1:8008", "http://user:***@10.0.0.1:8008"],
  ["postgres://:hunter2@db/x", "postgres://:***@db/x"],
  ["Authorization: Bearer hunter2", "Authorization: ***"],
  ["authorization: Basic aHVudGVyMg==", "authorization: ***"],
  ["curl -H 'Bearer hunter2hunter2'", "curl -H 'Bearer ***'"],
  ["password=hunter2 host=db", "password=*** host=db"],
  ["PGPASSWORD: hunter2", "PGPASSWORD: ***"],
  ['{"api_key": "hunter2", "port": 1}', '{"api_key": ***, "port": 1}'],
  ["user admin insecure-password hunter2", "user admin insecure-password ***"],
  ["--token=hunter2", "--token=***"],
];
for (const [text, redacted] of secrets) {
  test(`redacts the secret in ${JSON.stringify(text)}`, () => {
    assert.equal(redact(text), redacted);
  });
}

test("redacts a private key, even if it is truncated", () => {
  assert.doesNotMatch(redact("-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n"), /hunter2/);
  assert.doesNotMatch(redact("-----BEGIN PRIVATE KEY-----\nhunter2"), /hunter2/);
});

test("does not change text without secrets", () => {
  const text = "[NOTICE] haproxy version is 2.6.12\nConfiguration file is valid\nlisten a:b@c";
  assert.equal(redact(text), text);
});
