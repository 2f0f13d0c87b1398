import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { demoCommand } from "../../src/tools/commands.ts";
import { faultList, faultNames } from "../../src/tools/simulator/model/fault-list.ts";

const file = "docs/cli.md";
const marked = /(<!-- faults: [^>]*-->\n)[^]*?(<!-- \/faults -->)/;

const faultTable = [
  "| fault | parameter | effect on the node |",
  "|---|---|---|",
  ...faultList.map(
    ({ name, parameter, effect }) => `| \`${name}\` | ${parameter === null ? "" : `\`${parameter}\``} | ${effect} |`,
  ),
].join("\n");

test("docs/cli.md: the table lists every fault (UPDATE_DOCS=1 writes it)", () => {
  const text = readFileSync(file, "utf8");
  const wanted = text.replace(marked, (_, begin: string, end: string) => `${begin}${faultTable}\n${end}`);
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, wanted);
  else assert.equal(text, wanted);
  assert.match(text, marked);
});

test("rolecall demo cluster --help names every fault and how to undo it", () => {
  const about = demoCommand.verbs?.find(({ name }) => name === "demo cluster")?.about ?? "";
  for (const name of faultNames.filter((known) => known !== "revive")) assert.match(about, new RegExp(`\\b${name}\\b`));
});
