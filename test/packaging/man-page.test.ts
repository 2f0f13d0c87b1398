import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { manPage } from "../../packaging/man/man-page.ts";
import { allCommands, commands } from "../../src/cli/specs/commands.ts";

const file = "packaging/man/rolecall.1";

describe("packaging/man/rolecall.1", () => {
  test("is generated from the descriptions of the commands", () => {
    const wanted = manPage(commands);
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, wanted);
    assert.equal(existsSync(file) ? readFileSync(file, "utf8") : "", wanted, "UPDATE_DOCS=1 writes it");
  });

  test("shows every command and option, and groff warns of nothing, if it is installed", (context) => {
    const { error, stdout, stderr, status } = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-P-cbou", file], {
      encoding: "utf8",
      env: { ...process.env, MANWIDTH: "200" },
    });
    if (error !== undefined) return context.skip("groff is not installed");
    assert.equal(stderr, "");
    assert.equal(status, 0);
    const words = new Set(stdout.split(/[\s,]+/));
    for (const { name, options } of allCommands)
      for (const word of [...name.split(" "), ...options.map((option) => `--${option.name}`)])
        assert.ok(words.has(word), `${name}: ${word}`);
  });
});
