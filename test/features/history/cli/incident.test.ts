import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { runText } from "../../../fake/command-line.ts";

const around = "2026-01-31T12:00:00.000Z";
const file = "name: cluster demo\nsteps:\n  - at: 0ms\n    nodes: {}\n  - at: 1ms\n    nodes: {}\n";
const answers = {
  "/status": { body: { clusters: [{ cluster: "demo", nodes: [] }] } },
  [`/clusters/demo/incident?around=${around}`]: { body: file },
};

/** Runs the test in an empty directory: files without a name of their own are written to it. */
async function inFolder(context: TestContext): Promise<{ readonly folder: string; readonly argv: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-incident-"));
  const before = process.cwd();
  const server = await serveCannedAnswers(answers);
  process.chdir(folder);
  context.after(async () => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
    await server.close();
  });
  return { folder, argv: ["incident", "--around", around, "--server", server.url, "--color", "never"] };
}

const head = `demo: 2 observations, ${file.length}B. Keep the file: the history drops old evidence.\n`;

for (const isTerminal of [true, false])
  test(`incident writes a file, and its name to stderr (terminal: ${isTerminal})`, async (context) => {
    const { folder, argv } = await inFolder(context);
    for (const name of ["incident-demo-20260131T120000Z.yaml", "incident-demo-20260131T120000Z-2.yaml"]) {
      const { code, out, err } = await runText(argv, { isTerminal });
      assert.deepEqual([code, out], [0, ""]);
      assert.ok(err.startsWith(`${name}\n${head}`), err);
      assert.match(err, new RegExp(`^To look at it: rolecall incident show ${name}\\. `, "m"));
      assert.equal(readFileSync(name, "utf8"), file);
      assert.equal(statSync(name).mode & 0o777, 0o600);
    }
    assert.equal(readdirSync(folder).length, 2);
  });

test("incident writes the file that --save names, over an existing one", async (context) => {
  const { folder, argv } = await inFolder(context);
  const saved = join(folder, "night.yaml");
  for (let time = 0; time < 2; time += 1) {
    const { out, err, code } = await runText([...argv, "--save", saved]);
    assert.deepEqual([code, out], [0, ""]);
    assert.ok(err.startsWith(`${saved}\n${head}`), err);
  }
  assert.equal(readFileSync(saved, "utf8"), file);
  const refused = await runText([...argv, "--save", join(folder, "no", "such")]);
  assert.deepEqual([refused.code, /RC150 {2}Cannot write --save: ENOENT/.test(refused.err)], [2, true], refused.err);
});

test("incident prints the file where --save - asks for it, and in a document", async (context) => {
  const { folder, argv } = await inFolder(context);
  const { out, err } = await runText([...argv, "--save", "-"]);
  assert.deepEqual([out, err], [file, ""]);
  const { out: document } = await runText([...argv, "--format", "json"]);
  assert.equal((JSON.parse(document) as { data: { file: string } }).data.file, file);
  assert.deepEqual(readdirSync(folder), []);
});

test("incident names the directory in which it cannot write", async (context) => {
  const { argv } = await inFolder(context);
  const before = process.cwd();
  process.chdir("/proc");
  try {
    const { code, err } = await runText(argv);
    assert.equal(code, 2);
    assert.match(err, /RC150 {2}Cannot write incident-demo-20260131T120000Z\.yaml: E[A-Z]+[^]*--save FILE/);
  } finally {
    process.chdir(before);
  }
});
