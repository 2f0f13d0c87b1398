import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { assertResultDocument } from "../fake/result-document.ts";
import { adminApiAnswers } from "../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../fake/canned-server.ts";
import { until } from "../fake/until.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

/** The compiled program, run as a process. */
const program = resolve("dist", "main.js");
const folder = temporaryFolder("process");
let server: Awaited<ReturnType<typeof serveCannedAnswers>>;
let silent: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
  silent = await serveCannedAnswers({ "/status": { body: "", isSilent: true } });
});

after(async () => {
  await Promise.all([server.close(), silent.close()]);
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(
  argv: readonly string[],
  nodeArgs: readonly string[] = [],
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [...nodeArgs, program, ...argv], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })) };
}

/** Resolves when the silent server has received the request: the command is waiting for its response. */
async function requestArrived(calls: number): Promise<void> {
  await until({ what: `request ${calls} at the silent server`, seconds: 15 }, () => silent.received.length >= calls);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`exits with 2 and writes exactly one document on ${signal}`, { timeout: 30_000 }, async () => {
    const calls = silent.received.length;
    const { child, ended } = start(["status", "--server", silent.url, "--timeout", "60s", "--format", "json"]);
    await requestArrived(calls + 1);
    child.kill(signal);
    const { code, out, err } = await ended;
    assert.equal(code, 2);
    assert.equal(err, "");
    const { diagnostics, exit_code } = assertResultDocument(out);
    assert.equal(exit_code, 2);
    assert.equal(diagnostics[0]?.rule_id, "RC004");
    assert.match(diagnostics[0].message, new RegExp(signal));
  });
}

test("exits with 2 and writes exactly one document on a crash", { timeout: 30_000 }, async () => {
  const crash = join(folder, "crash.mjs");
  writeFileSync(crash, `setTimeout(() => { throw new Error("a planted error"); }, 300);`);
  const { ended } = start(
    ["status", "--server", silent.url, "--timeout", "60s", "--format", "json"],
    ["--import", pathToFileURL(crash).href],
  );
  const { code, out, err } = await ended;
  assert.equal(code, 2);
  assert.equal(err, "");
  const { diagnostics } = assertResultDocument(out);
  assert.deepEqual([diagnostics[0]?.rule_id, diagnostics[0]?.message], ["RC002", "a planted error"]);
});

for (const argv of [["result", "schema", "config"], ["status"], ["status", "--format", "json"]]) {
  test(`rolecall ${argv.join(" ")} reports no error if the reader of stdout is gone`, { timeout: 30_000 }, async () => {
    const { child, ended } = start(argv[0] === "status" ? [...argv, "--server", server.url] : argv);
    child.stdout?.destroy();
    const { err } = await ended;
    assert.doesNotMatch(err, /EPIPE|at .*\.js|Error:/);
  });
}

test("status --watch without a terminal prints one report after the other", { timeout: 30_000 }, async () => {
  const { child, ended } = start(["status", "--watch", "--interval", "50ms", "--server", server.url]);
  let out = "";
  await new Promise<void>((printed) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if ((out.match(/^\d{4}-\d\d-\d\dT[\d:]{8}Z {2}2 clusters: /gm) ?? []).length >= 3) printed();
    });
  });
  child.kill("SIGTERM");
  assert.equal((await ended).code, 2);
  assert.ok(!out.includes("\u001b"), "no control sequences");
});

test("status -o yaml and -o json write the same document", { timeout: 30_000 }, async () => {
  const [yaml, json, format] = await Promise.all(
    [
      ["-o", "yaml"],
      ["-o", "json"],
      ["--format", "json"],
    ].map(async (form) => (await start(["status", "--server", server.url, ...form]).ended).out),
  );
  assert.equal(json, format);
  assert.deepEqual(parse(yaml ?? ""), assertResultDocument(json ?? ""));
});

test("a service writes only its document to stdout, and exits with 0 on SIGINT", { timeout: 30_000 }, async () => {
  const config = join(folder, "served.yaml");
  writeFileSync(
    config,
    "clusters: [{ name: demo, nodes: [{ name: pg1, api: 'http://127.0.0.1:1' }] }]\nlisten: [{ port: 0 }]\n",
  );
  const { child, ended } = start(["serve", "--config", config, "--format", "json"]);
  let log = "";
  await new Promise<void>((listening) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('"listening"')) listening();
    });
  });
  child.kill("SIGINT");
  const { code, out } = await ended;
  assert.equal(code, 0);
  assert.deepEqual(assertResultDocument(out).coverage, [
    { id: "service", status: "complete", required: true, detail: "ended by SIGINT" },
  ]);
});

test("the process exits with the exit code of the document", { timeout: 30_000 }, async () => {
  for (const [argv, expected] of [
    [["version"], 0],
    [["check", "/replica", "--node", "pg3", "--server", server.url], 1],
    [["check"], 2],
    [["--format", "json"], 2],
    [["nonsense", "--format=json"], 2],
  ] as const) {
    const { code, out } = await start(argv).ended;
    assert.equal(code, expected, argv.join(" "));
    if (argv.some((word) => word.endsWith("json"))) assert.equal(assertResultDocument(out).exit_code, expected);
  }
});

test("result validate - reads a document from stdin", { timeout: 30_000 }, async () => {
  const child = spawn(process.execPath, [program, "result", "validate", "-"], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = once(child, "close");
  child.stdin.end(
    JSON.stringify({
      schema_version: "cli.result/v1",
      version: "1",
      command: "x",
      exit_code: 0,
      diagnostics: [],
      coverage: [],
      evidence: [],
    }),
  );
  assert.deepEqual((await ended)[0], 0);
});
