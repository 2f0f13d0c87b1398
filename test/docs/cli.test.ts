import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { oldNames } from "../../src/app/registry/old-names.ts";
import { commands } from "../../src/cli/specs/commands.ts";
import { usageOf } from "../../src/cli/specs/help.ts";
import { ruleIds } from "../../src/core/command/result/rule-ids.ts";
import { rules } from "../../src/core/command/result/rules.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

/** The tables that are generated from the sources. `UPDATE_DOCS=1` updates them. */
const commandTable = [
  "| command | |",
  "|---|---|",
  ...commands.map((spec) => `| \`${usageText(spec).replaceAll("|", "\\|")}\` | ${spec.summary} |`),
].join("\n");
/** A command with its verbs, in brackets if it does something without one. */
function usageText(spec: (typeof commands)[number]): string {
  if (spec.verbs === undefined) return usageOf(spec).replace(" [OPTIONS]", "");
  const verbs = spec.verbs.map(({ name }) => name.replace(`${spec.name} `, "")).join("|");
  return `rolecall ${spec.name} ${spec.load === null || spec.positionals?.least === 1 ? verbs : `[${verbs}]`}`;
}
const oldNameTable = ["| was | is |", "|---|---|", ...oldNames.map(({ was, is }) => `| \`${was}\` | \`${is}\` |`)].join(
  "\n",
);
const ruleTable = [
  "# Rules of findings",
  "",
  "Each finding that a [command](cli.md) reports has a rule of this table, and says what to do. A [policy](cli.md#policy)",
  "can lower or exclude a finding. [judgement.md](judgement.md) has the rules of verdicts.",
  "",
  "| rule | severity | meaning |",
  "|---|---|---|",
  ...ruleIds.map((id) => `| ${id} | ${rules[id].severity} | ${rules[id].title} |`),
  "",
].join("\n");

const tables = [
  [/(<!-- commands: [^>]*-->\n)[^]*?(<!-- \/commands -->)/, commandTable],
  [/(<!-- old names: [^>]*-->\n)[^]*?(<!-- \/old names -->)/, oldNameTable],
] as const;

test("docs/cli.md: lists the commands that exist, and the old names", () => {
  const text = readFileSync("docs/cli.md", "utf8");
  const wanted = tables.reduce(
    (page, [marked, table]) => page.replace(marked, (_, begin: string, end: string) => `${begin}${table}\n${end}`),
    text,
  );
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync("docs/cli.md", wanted);
  else assert.equal(text, wanted);
  for (const [marked] of tables) assert.match(text, marked);
});

test("docs/rules.md: lists exactly the rules of the source", () => {
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync("docs/rules.md", ruleTable);
  assert.equal(existsSync("docs/rules.md") ? readFileSync("docs/rules.md", "utf8") : "", ruleTable);
});

test("docs/comparison.md: HAProxy accepts the migration pools, if it is installed", () => {
  assert.match(readFileSync("docs/comparison.md", "utf8"), /config\/examples\/haproxy-migration\.cfg/);
  const lines = readFileSync("config/examples/haproxy-migration.cfg", "utf8");
  assert.match(lines, /backend write_veto/);
  const file = join(temporaryFolder("docs"), "haproxy.cfg");
  writeFileSync(
    file,
    `defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 30m\n  timeout server 30m\n${lines}`,
  );
  const { error, status, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
  if (error === undefined) assert.equal(status, 0, stderr);
});
