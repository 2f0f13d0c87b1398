/** Verbs that a feature adds to the command of another, by those of `rolecall incident`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withVerbs } from "../../../../src/core/command/framework/verbs.ts";
import { pastCommands } from "../../../../src/features/history/commands.ts";
import { incidentVerbs } from "../../../../src/features/replay/commands.ts";
import { runText } from "../../../fake/command-line.ts";

for (const [argv, message] of [
  [["--port", "1"], "--port can be used only with incident show"],
  [["replay", "f.yaml", "--port", "1"], "--port can be used only with incident show"],
  [["show"], "incident show takes FILE, got nothing"],
  [["replay"], "incident replay takes FILE, got nothing"],
  [["show", "f.yaml", "--around", "now"], "--around cannot be used with incident show"],
  [["replay", "f.yaml", "--cluster", "demo"], "--cluster cannot be used with incident replay"],
] as const)
  test(`incident ${argv.join(" ")} is refused: ${message}`, async () => {
    const { code, err } = await runText(["incident", ...argv]);
    assert.equal(code, 2);
    assert.ok(err.includes(`RC001  ${message}`), err);
  });

test("without the verbs the command takes no arguments; with them it has their options where they say", () => {
  const [plain] = pastCommands.filter(({ name }) => name === "incident");
  assert.ok(plain !== undefined);
  assert.equal(plain.positionals, undefined);
  assert.ok(!plain.options.some(({ name }) => name === "port"));
  const { positionals, options } = withVerbs(plain, incidentVerbs);
  assert.equal(positionals?.usage, "[show|replay FILE]");
  assert.deepEqual(
    options.slice(0, 4).map(({ name }) => name),
    ["around", "save", "port", "cluster"],
  );
});
