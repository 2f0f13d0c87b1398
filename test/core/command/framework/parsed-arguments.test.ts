import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArguments, type ArgumentsSpec } from "../../../../src/core/command/framework/arguments.ts";

const spec: ArgumentsSpec = {
  name: "restart",
  positionals: { usage: "NODE", least: 1, most: 1 },
  options: [
    { name: "wait", value: "TIME", help: "" },
    { name: "yes", short: "y", help: "" },
    { name: "set", value: "PATH=VALUE", multiple: true, help: "" },
  ],
};

function problemOf(...argv: readonly string[]): string | null {
  return parseArguments(spec, argv).problem?.message ?? null;
}

test("reads values, flags and positionals in any order", () => {
  const { args, problem } = parseArguments(spec, ["--wait=5s", "pg2", "-y", "--set", "a=1", "--set", "b=-1"]);
  assert.equal(problem, null);
  assert.deepEqual([args.text("wait"), args.has("yes"), args.list("set")], ["5s", true, ["a=1", "b=-1"]]);
  assert.deepEqual(args.positionals, ["pg2"]);
});

test("the last value of an option counts, and everything after -- is positional", () => {
  const { args } = parseArguments(spec, ["--wait", "5s", "--wait", "6s", "--", "--yes"]);
  assert.deepEqual([args.text("wait"), args.has("yes"), args.positionals], ["6s", false, ["--yes"]]);
});

for (const [argv, expected] of [
  [["pg2", "--nonsense"], /^Unknown option '--nonsense': it must be one of --wait, --yes, --set, --format/],
  [["pg2", "--wiat", "5s"], /^Unknown option '--wiat': did you mean --wait\?$/],
  [["pg2", "--wa"], /^Unknown option '--wa': did you mean --wait\?$/],
  [["pg2", "--format", "jsn"], /^--format must be one of text, json, got "jsn": did you mean json\?$/],
  [["pg2", "-x"], /^Unknown option '-x'/],
  [["pg2", "--wait"], /^Option '--wait TIME' needs a value/],
  [["pg2", "--wait", "--yes"], /^Option '--wait TIME' needs a value/],
  [["pg2", "--yes=1"], /^Option '--yes' takes no value/],
  [["pg2", "--format", "xml"], /^--format must be one of text, json, got "xml"/],
  [[], /^restart takes NODE, got nothing/],
  [["pg1", "pg2"], /^restart takes NODE, got "pg1 pg2"/],
] as const) {
  test(`rejects: restart ${argv.join(" ")}`, () => assert.match(problemOf(...argv) ?? "", expected));
}

test("a value may start with a dash after an equals sign", () => {
  assert.equal(parseArguments(spec, ["pg2", "--wait=-1s"]).args.text("wait"), "-1s");
});

test("help needs no positionals", () => {
  assert.equal(problemOf("--help"), null);
});

test("common options are read despite a problem", () => {
  for (const argv of [
    ["--nonsense", "--format", "json"],
    ["--wait", "--format", "json"],
    ["--format=json", "a", "b"],
    ["--wait", "--set", "--format", "json"],
  ]) {
    const { args, problem } = parseArguments(spec, argv);
    assert.ok(problem !== null);
    assert.equal(args.text("format"), "json", argv.join(" "));
  }
  assert.equal(parseArguments(null, ["stauts", "--server", "x", "--format", "json"]).args.text("format"), "json");
});
