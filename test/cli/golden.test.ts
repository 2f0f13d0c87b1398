import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { commands } from "../../src/cli/specs/commands.ts";
import { runText } from "../fake/command-line.ts";
import { adminApiAnswers } from "../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../fake/canned-server.ts";

/** The texts that people see, letter by letter. `UPDATE_GOLDEN=1` writes them anew; read the difference before it is kept. */
const folder = join("test", "spec", "cli", "golden");
let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
});

after(async () => {
  await server.close();
});

const texts: Readonly<Record<string, readonly string[]>> = {
  help: ["help"],
  status: ["status"],
  "status-colour": ["status", "--cluster", "demo", "--color", "always"],
  "check-fit": ["check", "/replica?lag=1MB", "--node", "pg2"],
  "check-degraded": ["check", "/primary", "--cluster", "demo"],
  "check-unfit": ["check", "/replica", "--node", "pg3"],
  explain: ["explain", "/replica", "--node", "pg3"],
  drain: ["drain", "pg2", "--for", "30m", "--reason", "kernel upgrade"],
  drains: ["drains"],
  switchover: ["switchover", "--cluster", "demo", "--candidate", "pg2", "--yes"],
  reinitialize: ["reinitialize", "demo/pg1", "--yes"],
  config: ["config", "--cluster", "demo"],
  "render-haproxy": ["render", "haproxy", "--edge", "127.0.0.1:8008"],
  "render-haproxy-soft": ["render", "haproxy", "--cluster", "demo", "--edge", "127.0.0.1:8008", "--soft"],
  "render-envoy": ["render", "envoy", "--cluster", "demo", "--edge", "127.0.0.1:8008"],
  "render-prometheus": ["render", "prometheus", "--admin", "127.0.0.1:9108"],
  "render-kubernetes": ["render", "kubernetes", "--cluster", "demo", "--image", "rolecall:test"],
  "result-show": ["result", "show", "test/spec/cli/another-tool.json"],
  usage: ["check", "--nod", "pg2"],
  validate: ["validate", "test/spec/cli/wrong.yaml"],
};
const withoutServer = ["help", "result-show", "validate", "usage"];

for (const [name, argv] of Object.entries(texts)) {
  test(`rolecall ${argv.join(" ")} says what it said`, async () => {
    const file = join(folder, `${name}.txt`);
    const { code, out, err } = await runText(withoutServer.includes(name) ? argv : [...argv, "--server", server.url]);
    const said = `${out}${err === "" ? "" : `--- stderr\n${err}`}--- exit code ${code}\n`;
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, said);
    assert.equal(said, existsSync(file) ? readFileSync(file, "utf8") : "");
  });
}

test("nothing that a node names itself reaches a terminal as a control character", async () => {
  const { out, err } = await runText(["status", "--server", server.url]);
  assert.match(out, /db\?\[31m1/);
  // oxlint-disable-next-line no-control-regex -- control characters are just what must not be there
  assert.doesNotMatch(out + err, /[\u0000-\u0009\u000b-\u001f]/);
});

test("colour is for terminals, and NO_COLOR is heard", async () => {
  const argv = ["status", "--server", server.url];
  const coloured = (around: Parameters<typeof runText>[1]): Promise<boolean> =>
    runText(argv, around).then(({ out }) => out.includes("\u001b[1m"));
  assert.equal(await coloured({}), false);
  assert.equal(await coloured({ isTerminal: true }), true);
  assert.equal(await coloured({ isTerminal: true, env: { NO_COLOR: "1" } }), false);
  assert.equal(await coloured({ isTerminal: true, env: { TERM: "dumb" } }), false);
});

for (const { name, options } of commands) {
  test(`rolecall ${name} --help has an example and every option`, async () => {
    const { code, out } = await runText([name, "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Examples?:\\n  .*rolecall ${name}`, "m"));
    for (const option of options) assert.match(out, new RegExp(`--${option.name}\\b`));
  });
}
