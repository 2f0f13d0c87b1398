import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseArguments } from "../../../src/core/command/framework/arguments.ts";
import { commands } from "../../../src/cli/specs/commands.ts";

/** The arguments of a command in a line for a shell, up to a pipe, a redirection or the end of a substitution. */
function argumentsOf(line: string, command: string): readonly string[] {
  const [, rest] = line.split(`rolecall ${command}`, 2);
  assert.ok(rest !== undefined, line);
  const words = [...rest.replace(/\)$/, "").matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)];
  const end = words.findIndex(([, , , bare]) => bare !== undefined && /^[|<>]$/.test(bare));
  return (end < 0 ? words : words.slice(0, end)).map(([, single, double, bare]) => single ?? double ?? bare ?? "");
}

describe("the examples of the help", () => {
  for (const command of commands)
    test(command.name, () => {
      assert.ok(command.examples.length > 0);
      for (const example of command.examples)
        assert.equal(parseArguments(command, argumentsOf(example, command.name)).problem, null, example);
    });
});
