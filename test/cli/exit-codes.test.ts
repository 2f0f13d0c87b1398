import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { allCommands } from "../../src/cli/specs/commands.ts";
import { runJson, runText } from "../fake/command-line.ts";
import { adminApiAnswers } from "../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../fake/canned-server.ts";
import { shownFleet } from "../fake/shown-fleet.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

interface Row {
  readonly given: string;
  readonly argv: readonly string[];
  readonly code: number;
  readonly rules: readonly string[];
  /** What stderr holds though the command succeeds: the findings of a command whose result is its output. */
  readonly err?: string;
}

const rows = JSON.parse(readFileSync("test/spec/cli/exit-codes.json", "utf8")) as readonly Row[];
const folder = temporaryFolder("cli");
const servers: { close(): Promise<void> }[] = [];
const values = new Map<string, string>();

function file(name: string, text: string): void {
  const path = join(folder, name);
  writeFileSync(path, text);
  values.set(`$${name.toUpperCase()}`, path);
}

before(async () => {
  const server = await serveCannedAnswers(adminApiAnswers);
  const silent = await serveCannedAnswers({ "/status": { body: "", isSilent: true } });
  const idle = await serveCannedAnswers({ "/audit": { body: { interval_ms: 0, targets: [], findings: [] } } });
  const read = { target: "lb1", program: "haproxy", up: true, findings: 0, unknown: [] };
  const unreadBody = { targets: [read, { ...read, target: "lb2", up: false, problem: "refused" }], findings: [] };
  const unread = await serveCannedAnswers({ "/audit": { body: unreadBody } });
  const blindBody = { targets: [{ ...read, unknown: ["demo"] }], findings: [] };
  const blind = await serveCannedAnswers({ "/audit": { body: blindBody } });
  const apartBody = { fleet: { ...shownFleet, phase: "apart", problem: "watch: refused", clusters: [] } };
  const apart = await serveCannedAnswers({ "/fleet": { body: apartBody } });
  const alone = await serveCannedAnswers({ "/fleet": { body: { fleet: null } } });
  const stranger = await serveCannedAnswers({ "/status": { body: "<html>hello</html>" } });
  const dead = await serveCannedAnswers({});
  await dead.close();
  servers.push(server, silent, idle, unread, blind, apart, alone, stranger);
  values.set("$APART", apart.url).set("$ALONE", alone.url);
  values.set("$IDLE", idle.url).set("$UNREAD", unread.url).set("$BLIND", blind.url);
  values.set("$SERVER", server.url).set("$SILENT", silent.url).set("$STRANGER", stranger.url).set("$DEAD", dead.url);
  values.set("$HOST_AND_PORT", server.url.replace("http://", ""));
  file("wrong", "clusters: [{ name: demo, discover: [nonsense] }]\nprobe: { interval: 5 }\n");
  file("dynamic", "ttl: 20\n");
  file("document", readFileSync("test/spec/cli/another-tool.json", "utf8"));
  const review = "reason: known, reviewed_by: operator, reviewed_at: 2026-01-31T12:00:00Z";
  file("policy", `dispositions: [{ rule_id: RC030, disposition: excluded, ${review} }]\n`);
});

after(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

const withValues = (argv: readonly string[]): readonly string[] => argv.map((arg) => values.get(arg) ?? arg);

for (const { given, argv, code, rules, err = "" } of rows) {
  test(`exits with ${code}: ${given}`, async () => {
    const document = await runJson(withValues(argv));
    assert.deepEqual(
      document.diagnostics.map(({ rule_id: id }) => id),
      rules,
    );
    assert.equal(document.exit_code, code);
    const text = await runText(withValues(argv));
    assert.equal(text.code, code);
    if (code === 2) assert.notEqual(text.err, "", "stderr says why");
    else if (err === "") assert.equal(text.err, "");
    else assert.match(text.err, new RegExp(err));
  });
}

test("the table has every command, verb and form", async () => {
  const tested = new Set(await Promise.all(rows.map(async ({ argv }) => (await parseCommandLine(argv)).spec?.name)));
  assert.deepEqual(
    allCommands.filter(({ name, load }) => load !== null && !tested.has(name)).map(({ name }) => name),
    [],
  );
});

test("marks the finding of each required check that did not complete as incomplete", async () => {
  const { diagnostics, coverage } = await runJson(["doctor", "--config", values.get("$WRONG") ?? ""]);
  const open = coverage.filter(({ required, status }) => required && status !== "complete");
  assert.equal(
    diagnostics.filter(({ rule_id: id, incomplete }) => id === "RC003" && incomplete === true).length,
    open.length,
  );
});
