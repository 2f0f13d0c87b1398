import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { commands } from "../../../src/cli/specs/commands.ts";
import { runText } from "../../fake/command-line.ts";

const script = (await runText(["completion", "bash"])).out;

function complete(...words: readonly string[]): readonly string[] {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const { stdout, stderr, status } = spawnSync(
    "bash",
    [
      "-c",
      `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _rolecall; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  return stdout.split("\n").filter((word) => word !== "");
}

test("the bash script completes commands", () => {
  assert.deepEqual(complete("rolecall", "st"), ["status"]);
  assert.deepEqual([...complete("rolecall", "")].sort(), commands.map(({ name }) => name).sort());
});

test("the bash script completes options and their choices", () => {
  assert.deepEqual(complete("rolecall", "status", "--wa"), ["--watch"]);
  assert.deepEqual(complete("rolecall", "status", "--format", ""), ["text", "json"]);
  assert.deepEqual(complete("rolecall", "render", "ha"), ["haproxy"]);
  assert.deepEqual(
    complete("rolecall", "validate", "packag"),
    ["package-lock.json", "package.json"].filter((file) => complete("rolecall", "validate", file).length > 0),
  );
});

for (const shell of ["zsh", "fish"]) {
  test(`the ${shell} script has every command and option`, async () => {
    const { out } = await runText(["completion", shell]);
    for (const { name, options } of commands) {
      assert.ok(out.includes(name));
      for (const option of options)
        assert.ok(out.includes(shell === "zsh" ? `--${option.name}` : `-l ${option.name}`), `${name} ${option.name}`);
    }
    const syntax = spawnSync(shell, ["-n"], { input: out, encoding: "utf8" });
    // If the shell is installed, it must accept the syntax.
    if (syntax.error === undefined) assert.equal(syntax.stderr, "");
  });
}
