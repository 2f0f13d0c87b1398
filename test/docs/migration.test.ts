/** config/examples/haproxy-migration.cfg: each of its steps is valid, and the last ones are those of haproxy.cfg. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sectionsOf } from "../../src/core/balancing/haproxy-sections.ts";
import { migrationFile, migrationStep } from "../fake/migration-step.ts";
import { assertValidHaproxy } from "../fake/valid-haproxy.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-migration-"));
after(() => rmSync(folder, { recursive: true }));

/** What the sections of a file say, by their names, without comments and blank lines. */
function linesOf(file: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    sectionsOf(file).map(({ name, lines }) => [
      name,
      lines.flatMap(({ tokens }) => (tokens.length === 0 ? [] : [tokens.join(" ")])),
    ]),
  );
}

test("what checks rolecall is as in haproxy.cfg", () => {
  const [own, known] = [migrationFile, readFileSync("config/examples/haproxy.cfg", "utf8")].map(linesOf);
  const shared = ["listen rolecall", "backend rolecall_ready", "backend write", "backend read"];
  for (const name of [...shared, "backend write_direct", "backend read_direct"])
    assert.deepEqual(own?.get(name), known?.get(name) ?? assert.fail(`haproxy.cfg has ${name}`), name);
});

for (const [step, pools] of [
  ["1, as it is", { write: "write_nodes", read: "read_nodes" }],
  ["2, both may refuse", { write: "write_veto", read: "read_veto" }],
  ["3, reads", { write: "write_veto", read: null }],
  ["4, writes", { write: null, read: null }],
] as const)
  test(`HAProxy takes step ${step}`, () => assertValidHaproxy(migrationStep(pools), folder));
