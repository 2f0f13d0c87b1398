/** Verbs and forms: what the word after a command's name, or one of its options, makes of the command. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CommandSpec } from "../../../../src/core/command/framework/command.ts";
import { parseArguments } from "../../../../src/core/command/framework/arguments.ts";
import { verbCommand, withAdditions, optionsWithForms } from "../../../../src/core/command/framework/verbs.ts";
import { parseCommandLine } from "../../../../src/cli/command-line.ts";
import { pastCommands } from "../../../../src/features/history/commands.ts";
import { incidentAdditions } from "../../../../src/features/replay/commands.ts";
import { runText } from "../../../fake/command-line.ts";

for (const [argv, message] of [
  [["incident", "show"], "incident show takes FILE, got nothing"],
  [["incident", "replay"], "incident replay takes FILE, got nothing"],
  [["incident", "shwo", "f.yaml"], "The first argument of incident must be one of show, replay, got"],
  [["incident", "--port", "1"], "--port can be used only with incident show"],
  [["incident", "replay", "f.yaml", "--port", "1"], "--port cannot be used with incident replay"],
  [["incident", "show", "f.yaml", "--around", "now"], "--around cannot be used with incident show"],
  [["status", "rotes"], 'of status must be one of pools, routes, fleet, got "rotes": did you mean routes?'],
  [["status", "routes", "--watch"], "--watch cannot be used with status routes"],
  [["node"], "node takes restart|reload|reinitialize, got nothing"],
  [["node", "pg1"], 'of node must be one of restart, reload, reinitialize, got "pg1"'],
  [["node", "restart"], "node restart takes NODE, got nothing"],
  [["render"], "render takes haproxy|envoy|prometheus|alerts|dashboard|patroni, got nothing"],
  [["render", "nginx", "--edge", "10.0.0.1:8008"], "The first argument of render must be one of haproxy, envoy, "],
  [["drain"], "drain takes NODE, got nothing"],
  [["drain", "--list", "pg1"], 'drain --list takes no arguments, got "pg1"'],
  [["drain", "--list", "--all"], "--all cannot be used with drain --list"],
  [["drain", "pg1", "--end", "--for", "1h"], "--for cannot be used with drain --end"],
  [["drain", "pg1", "--distrust", "--all"], "--all cannot be used with drain --distrust"],
  [["drain", "pg1", "--member", "edge1:9443", "--end"], 'drain --member takes no arguments, got "pg1"'],
  [["drain", "--member", "--end"], "Option '--member MEMBER' needs a value"],
  [["drain", "--member", "edge1:9443", "--end", "--for", "1h"], "--for must be given without --end"],
  [["doctor", "--offline"], "doctor --offline takes one file, as FILE or with --config FILE, got nothing"],
  [["doctor", "a.yaml", "--config", "b.yaml"], "doctor takes one file, as FILE or with --config FILE, got a.yaml and"],
  [["doctor", "a.yaml", "--offline", "--haproxy", "x"], "--haproxy cannot be used with doctor --offline"],
] as const)
  test(`${argv.join(" ")} is refused: ${message}`, async () => {
    const { code, err } = await runText(argv);
    assert.equal(code, 2);
    assert.ok(err.includes(`RC001  `) && err.includes(message), err);
  });

describe("a command line selects", () => {
  for (const [line, name, positionals] of [
    ["status", "status", []],
    ["status --problems", "status", []],
    ["status routes", "status routes", []],
    ["status --server 10.0.0.1 routes", "status routes", []],
    ["--server 10.0.0.1 status pools orders", "status pools", ["orders"]],
    // A value is no verb.
    ["status --cluster routes", "status", []],
    ["status --timeout 1s pools", "status pools", []],
    ["drain pg1 --for 1h --reason list", "drain", ["pg1"]],
    ["drain --list", "drain --list", []],
    ["drain pg1 --distrust --for 1h", "drain --distrust", ["pg1"]],
    ["drain --distrust --end pg1", "drain --end", ["pg1"]],
    ["drain --member=edge1:9443 --end", "drain --member", []],
    ["node restart pg1", "node restart", ["pg1"]],
    ["cluster config demo", "cluster config", ["demo"]],
    ["context", "context", []],
    ["context use prod", "context use", ["prod"]],
    ["result show -", "result show", ["-"]],
    ["demo", "demo", []],
    ["demo cluster --nodes 2", "demo cluster", []],
    ["render envoy --xds", "render envoy", []],
    ["doctor a.yaml", "doctor", ["a.yaml"]],
    ["doctor --offline a.yaml", "doctor --offline", ["a.yaml"]],
  ] as const)
    test(`${line}: ${name}`, async () => {
      const parsed = await parseCommandLine(line.split(" "));
      assert.equal(parsed.problem, null);
      assert.equal(parsed.spec?.name, name);
      assert.deepEqual(parsed.args.positionals, positionals);
    });
});

test("without what is added a command takes no arguments; with it, its verbs", () => {
  const [plain] = pastCommands.filter(({ name }) => name === "incident");
  assert.ok(plain !== undefined);
  assert.equal(plain.positionals, undefined);
  const { positionals, options } = withAdditions(plain, incidentAdditions);
  assert.equal(positionals?.usage, "[show|replay]");
  assert.deepEqual(options, plain.options);
});

const verb: CommandSpec = {
  name: "tool make",
  summary: "make it",
  about: "Makes it.",
  options: [{ name: "fast", help: "soon" }],
  examples: ["rolecall tool make"],
  checks: [],
  load: () => Promise.resolve(() => Promise.resolve()),
};

test("a command that needs a verb says so, also where options of its verbs are given", () => {
  const tool = verbCommand({ name: "tool", summary: "", about: "", checks: [], verbs: [verb] });
  assert.deepEqual(tool.examples, verb.examples);
  assert.equal(parseArguments(tool, ["--fast"]).problem?.message, "tool takes make, got nothing");
  assert.match(parseArguments(tool, ["mkae", "--fast"]).problem?.message ?? "", /did you mean make\?$/);
});

test("forms add their options after those of the command, each once", () => {
  const form: CommandSpec = {
    ...verb,
    name: "tool make --slow",
    options: [{ name: "slow", help: "late" }, ...verb.options],
  };
  const names = optionsWithForms({ ...verb, forms: [form] }).map(({ name }) => name);
  assert.deepEqual(names, ["fast", "slow"]);
});

test("an option without effect is accepted, and noted on stderr", async () => {
  const { code, out, err } = await runText(["render", "dashboard", "--edge", "10.0.0.1:8008", "--bare"]);
  assert.equal(code, 0);
  assert.match(out, /"panels"/);
  assert.equal(
    err,
    "note: rolecall render dashboard does not use --edge, which is an error from 2.0 on\n" +
      "note: rolecall render dashboard does not use --bare, which is an error from 2.0 on\n",
  );
});
