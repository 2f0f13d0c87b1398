import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { allCommands } from "../../src/cli/specs/commands.ts";
import { ownOptions, usageOf } from "../../src/cli/specs/help.ts";
import { commonOptions, serverOptions } from "../../src/core/command/framework/options.ts";
import { runText } from "../fake/command-line.ts";
import { adminApiAnswers } from "../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../fake/canned-server.ts";

/**
 * The text output of commands, compared character by character. `UPDATE_GOLDEN=1` updates the files: review the diff.
 */
const folder = join("test", "spec", "cli", "golden");
let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
});

after(async () => {
  await server.close();
});

const ca = "/etc/patroni/ca.pem";
const hintTo = "https://10.0.0.11:9109,https://10.0.0.12:9109";
const texts: Readonly<Record<string, readonly string[]>> = {
  help: ["help"],
  "help-options": ["help", "options"],
  "help-status": ["help", "status"],
  "help-drain": ["help", "drain"],
  "help-node": ["node", "--help"],
  "help-render-haproxy": ["render", "haproxy", "--help"],
  "old-name": ["drains"],
  status: ["status"],
  "status-colour": ["status", "--cluster", "demo", "--color", "always"],
  "check-fit": ["check", "/replica?lag=1MB", "--node", "pg2"],
  "check-degraded": ["check", "/primary", "--cluster", "demo"],
  "check-unfit": ["check", "/replica", "--node", "pg3"],
  explain: ["explain", "/replica", "--node", "pg3"],
  "explain-node": ["explain", "--node", "pg3"],
  "explain-cluster": ["explain", "/replica", "--cluster", "demo"],
  drain: ["drain", "pg2", "--for", "30m", "--reason", "kernel upgrade", "--yes"],
  "drain-last": ["drain", "pg2", "--for", "30m", "--reason", "kernel upgrade"],
  drains: ["drain", "--list"],
  verify: ["status", "routes"],
  "canaries-sql": ["canaries", "--sql", "canary"],
  fleet: ["status", "fleet"],
  "fleet-one": ["status", "fleet", "--cluster", "shop"],
  "fleet-drain": ["drain", "--member", "edge2:9443", "--for", "1h"],
  "fleet-undrain": ["drain", "--member", "edge4:9443", "--end"],
  "fleet-undrained": ["drain", "--member", "edge1:9443", "--end"],
  pools: ["status", "pools"],
  "pools-one": ["status", "pools", "writes"],
  switchover: ["switchover", "--cluster", "demo", "--candidate", "pg2", "--yes"],
  "switchover-seamless": ["switchover", "catalog", "--to", "pg2", "--seamless", "--yes"],
  "switchover-refused": ["switchover", "orders", "--seamless", "--dry-run"],
  reinitialize: ["node", "reinitialize", "demo/pg1", "--yes"],
  config: ["cluster", "config", "--cluster", "demo"],
  "unknown-route": ["explain", "/replicaa"],
  "render-haproxy": ["render", "haproxy", "--edge", "127.0.0.1:8008"],
  "render-haproxy-two": ["render", "haproxy", "--cluster", "demo", "--edge", "10.0.0.11:8008,10.0.0.12:8008"],
  "render-envoy": ["render", "envoy", "--cluster", "demo", "--edge", "127.0.0.1:8008"],
  "render-prometheus": ["render", "prometheus", "--admin", "127.0.0.1:9108"],
  "render-patroni-pause": ["render", "patroni", "--pause", "--cluster", "demo", "--hint-to", hintTo, "--hint-ca", ca],
  "render-patroni": ["render", "patroni", "--cluster", "demo", "--hint-to", hintTo, "--hint-ca", ca],
  "result-show": ["result", "show", "test/spec/cli/another-tool.json"],
  usage: ["check", "--nod", "pg2"],
  "unknown-command": ["statsu"],
  bare: [],
  validate: ["doctor", "--offline", "test/spec/cli/wrong.yaml"],
};
const withoutServer = [
  "help",
  "help-options",
  "help-status",
  "help-drain",
  "help-node",
  "help-render-haproxy",
  "result-show",
  "validate",
  "usage",
  "unknown-command",
  "bare",
];

for (const [name, argv] of Object.entries(texts)) {
  test(`rolecall ${argv.join(" ")} writes its golden text`, async () => {
    const file = join(folder, `${name}.txt`);
    const { code, out, err } = await runText(withoutServer.includes(name) ? argv : [...argv, "--server", server.url]);
    const text = `${out}${err === "" ? "" : `--- stderr\n${err}`}--- exit code ${code}\n`;
    const actual = text.replaceAll(server.url, "http://127.0.0.1:9108");
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, actual);
    assert.equal(actual, existsSync(file) ? readFileSync(file, "utf8") : "");
  });
}

test("replaces control characters in the names of nodes", async () => {
  const { out, err } = await runText(["status", "--server", server.url]);
  assert.match(out, /db\?\[31m1/);
  // oxlint-disable-next-line no-control-regex -- this matches control characters on purpose
  assert.doesNotMatch(out + err, /[\u0000-\u0009\u000b-\u001f]/);
});

test("uses colours only on terminals, and not with NO_COLOR", async () => {
  const argv = ["status", "--server", server.url];
  const coloured = (options: Parameters<typeof runText>[1]): Promise<boolean> =>
    runText(argv, options).then(({ out }) => out.includes("\u001b[1m"));
  assert.equal(await coloured({}), false);
  assert.equal(await coloured({ isTerminal: true }), true);
  assert.equal(await coloured({ isTerminal: true, env: { NO_COLOR: "1" } }), false);
  assert.equal(await coloured({ isTerminal: true, env: { TERM: "dumb" } }), false);
});

for (const spec of allCommands.filter(({ name }) => !name.includes(" --"))) {
  test(`rolecall ${spec.name} --help has an example, every option of its own, and the help for the others`, async () => {
    const { code, out } = await runText([...spec.name.split(" "), "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Examples?:\\n  .*rolecall ${spec.name}`, "m"));
    for (const option of ownOptions(spec)) assert.match(out, new RegExp(`^  .*--${option.name}\\b`, "m"));
    for (const form of spec.forms ?? []) assert.ok(out.includes(`  ${usageOf(form)}\n`), form.name);
    assert.match(out, /^Options that commands share \(.*output\): rolecall help options$/m);
    for (const { name } of [...serverOptions, ...commonOptions])
      assert.doesNotMatch(out, new RegExp(`^  (?:-\\w, )?--${name}\\b`, "m"));
  });
}

test("rolecall help options has every option that commands share", async () => {
  const { code, out } = await runText(["help", "options"]);
  assert.equal(code, 0);
  for (const { name, help } of [...serverOptions, ...commonOptions]) {
    assert.match(out, new RegExp(`^  .*--${name}\\b`, "m"));
    assert.ok(out.includes(help), name);
  }
});

test("rolecall render haproxy --help has the options of HAProxy only", async () => {
  const { out } = await runText(["render", "haproxy", "--help"]);
  const shown = [...out.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name);
  for (const name of ["edge", "bind", "agent", "runtime-socket", "bare", "config"])
    assert.ok(shown.includes(name), name);
  for (const name of ["xds", "admin", "docs", "job", "hint-to", "pause", "node-metrics", "server"])
    assert.ok(!shown.includes(name), name);
});
