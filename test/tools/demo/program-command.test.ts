import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { aliasOfProgram } from "../../../src/tools/demo/program-command.ts";

test("a program that the search path finds needs no alias, unless only npm put it there", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-alias-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "main.js");
  writeFileSync(program, "");
  const [bin, npmBin] = [join(folder, "bin"), join(folder, "node_modules", ".bin")];
  for (const place of [bin, npmBin]) {
    mkdirSync(place, { recursive: true });
    symlinkSync(program, join(place, "rolecall"));
  }
  const alias = `alias rolecall='node ${program}'`;
  assert.equal(aliasOfProgram(program, `/nowhere:${bin}`), null);
  assert.equal(aliasOfProgram(join(bin, "rolecall"), bin), null);
  assert.equal(aliasOfProgram(program, npmBin), alias);
  assert.equal(aliasOfProgram(program, ""), alias);
});

test("an alias shortens the home folder, and quotes what a shell would split", () => {
  assert.equal(aliasOfProgram(join(homedir(), "no-such", "main.js"), ""), "alias rolecall='node ~/no-such/main.js'");
  assert.equal(aliasOfProgram("/no such/main.js", ""), `alias rolecall='node "/no such/main.js"'`);
  assert.equal(aliasOfProgram("/no's/main.js", ""), `alias rolecall='node "/no'\\''s/main.js"'`);
});
