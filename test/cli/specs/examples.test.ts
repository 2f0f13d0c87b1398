import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { commandWordsOf } from "../../../src/core/command/framework/verbs.ts";
import { parseCommandLine } from "../../../src/cli/command-line.ts";
import { allCommands } from "../../../src/cli/specs/commands.ts";

/** The arguments of the program in a line for a shell, up to a pipe, a redirection or the end of a substitution. */
function argumentsOf(line: string, command: string): readonly string[] {
  const at = line.indexOf(`rolecall ${command}`);
  assert.ok(at >= 0, line);
  const rest = line.slice(at + "rolecall ".length);
  const words = [...rest.replace(/\)$/, "").matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)];
  const end = words.findIndex(([, , , bare]) => bare !== undefined && /^[|<>]$/.test(bare));
  return (end < 0 ? words : words.slice(0, end)).map(([, single, double, bare]) => single ?? double ?? bare ?? "");
}

describe("the examples of the help", () => {
  for (const command of allCommands)
    test(command.name, async () => {
      assert.ok(command.examples.length > 0);
      for (const example of command.examples) {
        const words = example.endsWith(" --version") ? "--version" : commandWordsOf(command);
        const { problem, notes, spec } = await parseCommandLine(argumentsOf(example, words));
        assert.equal(problem, null, example);
        assert.deepEqual(notes, [], example);
        if (command.load !== null && command.verbs === undefined) assert.equal(spec?.name, command.name, example);
      }
    });
});
