import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  clusterFields,
  configFields,
  dcsFields,
  diskFields,
  drainFields,
  exporterSenderFields,
  pageFields,
  receiverFields,
  reportFields,
  senderFields,
} from "../../src/core/cluster/evidence/evidence-fields.ts";
import type { SomeFields } from "../../src/core/cluster/evidence/fields.ts";

const text = readFileSync("proof/incident-files.md", "utf8");

function section(title: string): string {
  return text.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? assert.fail(title);
}

/** The keys that the first column of a section's table names. */
function keysIn(part: string): ReadonlySet<string> {
  const rows = part.split("\n").filter((line) => line.startsWith("| `"));
  return new Set(
    rows.flatMap((row) => [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)`/g)].map(([, key = ""]) => key)),
  );
}

function keysOf(...tables: readonly object[]): ReadonlySet<string> {
  const fields: readonly SomeFields[string][] = tables.flatMap((table) => Object.values(table));
  return new Set(fields.flatMap(({ incident }) => (incident === false ? [] : [incident[0]])));
}

test("the table of a node's answer has the keys of a report, and those that are short for some", () => {
  const documented = [...keysIn(section("A node's answer"))];
  assert.deepEqual(documented.toSorted(), [...keysOf(reportFields), "lock", "position"].toSorted());
});

test("the table of an exporter's page has the keys of a page", () => {
  const documented = [...keysIn(section("A page of an exporter"))];
  assert.deepEqual(documented.toSorted(), [...keysOf(pageFields, diskFields), "position"].toSorted());
});

for (const [row, fields] of [
  ["senders", senderFields],
  ["receiver", receiverFields],
  ["cluster", clusterFields],
  ["config", configFields],
  ["dcs", dcsFields],
  ["drains", drainFields],
] as const) {
  test(`the row of ${row} names the keys of its fields`, () => {
    const rows = text
      .split("\n")
      .filter((line) => line.startsWith(`| \`${row}\` |`))
      .join("\n");
    for (const key of keysOf(fields)) assert.match(rows, new RegExp(`\\b${key}\\b`));
  });
}

test("the rows of senders name the keys of an exporter's", () => {
  for (const key of keysOf(exporterSenderFields))
    assert.match(section("A page of an exporter"), new RegExp(`\\b${key}\\b`));
});

test("what only format 2 has is marked so", () => {
  const fields = [reportFields, pageFields, clusterFields, configFields, dcsFields, drainFields].flatMap(
    (table): SomeFields[string][] => Object.values(table),
  );
  for (const { incident } of fields)
    if (incident !== false && incident[1] === 2)
      assert.match(text, new RegExp(`^\\| \`${incident[0]}\` \\|.*format 2|\`${incident[0]}\` \\(format 2\\)`, "m"));
});
