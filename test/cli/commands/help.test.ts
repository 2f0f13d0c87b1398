import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";

test("help COMMAND is the help of the command, and help alone groups all of them", async () => {
  const own = await runText(["status", "--help"]);
  assert.deepEqual(await runText(["help", "status"]), own);
  const { out } = await runText(["help"]);
  const titles = out.split("\n").filter((line) => /^[A-Z][a-z ]+:$/.test(line));
  assert.deepEqual(titles, ["Serve:", "Look:", "Act:", "Set up:"]);
  assert.deepEqual(await runText(["--help"]), await runText(["help"]));
  const unknown = await runText(["help", "statsu"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /Unknown command "statsu": did you mean rolecall status\?/);
  const verb = await runText(["routes"]);
  assert.match(verb.err, /Unknown command "routes": did you mean rolecall status routes\?/);
});

test("doctor --offline takes its file as an argument or with --config, and one only", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-validate-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, 'clusters: [{ name: demo, discover: ["http://10.0.0.1:8008"] }]\n');
  const valid = await runText(["doctor", "--offline", file]);
  assert.equal(valid.code, 0);
  assert.deepEqual(await runText(["doctor", "--offline", "--config", file]), valid);
  for (const [argv, got] of [
    [[], "doctor --offline takes one file, as FILE or with --config FILE, got nothing"],
    [
      [file, "--config", "other.yaml"],
      `doctor takes one file, as FILE or with --config FILE, got ${file} and other.yaml`,
    ],
  ] as const) {
    const { code, err } = await runText(["doctor", "--offline", ...argv]);
    assert.equal(code, 2);
    assert.ok(err.includes(got), err);
  }
});

test("what to do about a configuration depends on what is wrong with it", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-hints-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const missing = await runText(["status", "--config", "/no/such.yaml"]);
  assert.match(missing.err, /\/no\/such\.yaml: [^]*\n {2}Check the name and permissions of the file\.\n/);
  assert.doesNotMatch(missing.err, /#/);
  writeFileSync(file, 'clusters: [{ name: demo, discover: ["http://10.0.0.1:8008"] }]\nwhat: 1\ndrain: 7\n');
  const { out } = await runText(["doctor", "--offline", file]);
  assert.match(
    out,
    /:2: what: is not a known key[^\n]*\n {2}Remove it or correct its name \(docs\/configuration\.md\)\.\n/,
  );
  assert.match(out, /:3: drain: [^\n]*\n {2}Correct the value that the message names\.\n/);
});

test("a terminal shows the clusters that are not ok, and counts the others", async (context) => {
  const row = (name: string, condition: string): object => ({
    cluster: name,
    leader: "pg1",
    situation: { condition },
    nodes: [{ node: "pg1", role: "primary", state: "running", condition, verdicts: { primary: "fit" } }],
  });
  const names = ["a", "b", "c", "d"];
  const clusters = [...names.map((name) => row(`shop-${name}`, "ok")), row("orders", "degraded")];
  const server = await serveCannedAnswers({ "/status": { body: { clusters } } });
  context.after(() => server.close());
  const argv = ["status", "--server", server.url, "--color", "never"];
  const shown = async (isTerminal: boolean, ...more: readonly string[]): Promise<string> =>
    (await runText([...argv, ...more], { isTerminal })).out;
  const folded = await shown(true);
  assert.match(folded, /^4 clusters ok: --all shows them$/m);
  assert.match(folded, /^orders /m);
  assert.doesNotMatch(folded, /shop-/);
  for (const whole of [await shown(false), await shown(true, "--all")]) {
    assert.match(whole, /^shop-d /m);
    assert.doesNotMatch(whole, /--all shows/);
  }
});
