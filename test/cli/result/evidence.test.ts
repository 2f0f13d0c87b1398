import assert from "node:assert/strict";
import { test } from "node:test";
import { execute, redact } from "../../../src/cli/result/evidence.ts";

const signal = new AbortController().signal;
const node = (script: string, timeoutMs = 10_000): ReturnType<typeof execute> =>
  execute({ command: process.execPath, args: ["-e", script], timeoutMs, signal });

test("a sub-command is recorded with its words, its output and its exit code", async () => {
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

test("a command that is not there is -1 and says so", async () => {
  const evidence = await execute({ command: "/no/such/program", args: [], timeoutMs: 1_000, signal });
  assert.equal(evidence.exit_code, -1);
  assert.match(evidence.stderr, /did not run/);
});

test("a command that does not end is ended", async () => {
  const evidence = await node("setInterval(() => {}, 1000)", 300);
  assert.equal(evidence.exit_code, -1);
  assert.match(evidence.stderr, /ended by SIGTERM/);
});

test("long output is cut, with a note that says how long it was", async () => {
  const evidence = await node("process.stdout.write('x'.repeat(1_000_000))");
  assert.ok(evidence.stdout.length < 66_000);
  assert.match(evidence.stdout, /\[cut: 1000000 bytes in all, the first 65536 are shown\]/);
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
for (const [text, blotted] of secrets) {
  test(`a secret in ${JSON.stringify(text)} is blotted out`, () => {
    assert.equal(redact(text), blotted);
  });
}

test("a private key is blotted out, also when it was cut", () => {
  assert.doesNotMatch(redact("-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n"), /hunter2/);
  assert.doesNotMatch(redact("-----BEGIN PRIVATE KEY-----\nhunter2"), /hunter2/);
});

test("what is no secret stays as it is", () => {
  const text = "[NOTICE] haproxy version is 2.6.12\nConfiguration file is valid\nlisten a:b@c";
  assert.equal(redact(text), text);
});
