import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";

const around = "2026-01-31T12:00:00.000Z";
const file = "name: cluster demo\nsteps:\n  - at: 0ms\n    nodes: {}\n  - at: 1ms\n    nodes: {}\n";
const answers = {
  "/status": { body: { clusters: [{ cluster: "demo", nodes: [] }] } },
  [`/clusters/demo/incident?around=${around}`]: { body: file },
};

test("incident prints the file into a pipe, saves it, and shows a summary on a terminal", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-incident-"));
  const server = await serveCannedAnswers(answers);
  context.after(async () => {
    rmSync(folder, { recursive: true });
    await server.close();
  });
  const argv = ["incident", "--around", around, "--server", server.url, "--color", "never"];
  assert.equal((await runText(argv)).out, file);
  const saved = join(folder, "incident.yaml");
  const summary = `demo: 2 observations, ${file.length}B. Keep the file: the history drops old evidence.\n`;
  const { out, code } = await runText([...argv, "--save", saved]);
  assert.equal(code, 0);
  assert.ok(out.startsWith(`${saved}\n${summary}`), out);
  assert.equal(readFileSync(saved, "utf8"), file);
  const shown = await runText(argv, { isTerminal: true });
  assert.ok(shown.out.startsWith(summary), shown.out);
  assert.match(shown.out, /^To save it: rolecall incident --around \S+ --cluster demo --save incident.yaml --server/m);
  assert.doesNotMatch(shown.out, /steps:/);
  const refused = await runText([...argv, "--save", join(folder, "no", "such")]);
  assert.deepEqual([refused.code, /RC150 {2}Cannot write --save: ENOENT/.test(refused.err)], [2, true], refused.err);
});
