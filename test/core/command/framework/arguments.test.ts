import assert from "node:assert/strict";
import { test } from "node:test";
import { Arguments } from "../../../../src/core/command/framework/arguments.ts";
import { CommandError } from "../../../../src/core/command/framework/command-error.ts";

const of = (values: Readonly<Record<string, readonly string[]>>, flags: readonly string[] = []): Arguments =>
  new Arguments(["a"], new Map(Object.entries(values)), new Set(flags));

test("the last value of an option counts, and all are kept in order", () => {
  const args = of({ server: ["one", "two"] }, ["yes"]);
  assert.equal(args.text("server"), "two");
  assert.deepEqual(args.list("server"), ["one", "two"]);
  assert.deepEqual([args.text("other"), args.list("other")], [null, []]);
  assert.deepEqual([args.has("yes"), args.has("no")], [true, false]);
});

test("a duration has a default, and an invalid one names the option, what is allowed and what it got", () => {
  assert.equal(of({}).duration("timeout", "10s"), 10_000);
  for (const text of ["2m", "2min", "120s"]) assert.equal(of({ timeout: [text] }).duration("timeout", "10s"), 120_000);
  for (const text of ["soon", "0s", "", "30", "m", "-1s"]) {
    assert.throws(
      () => of({ timeout: [text] }).duration("timeout", "10s"),
      (error) => {
        assert.ok(error instanceof CommandError);
        assert.equal(error.rule, "RC001");
        assert.match(error.message, /^--timeout must be a duration such as .*, got "/);
        return true;
      },
    );
  }
});

test("an integer keeps to its bounds and has a default", () => {
  assert.equal(of({}).integer("nodes", 3, [1, 9]), 3);
  assert.equal(of({ nodes: ["9"] }).integer("nodes", 3, [1, 9]), 9);
  for (const text of ["0", "10", "1.5", "x", "1e1", "", "-1", " 5", "99999999999999999999"])
    assert.throws(
      () => of({ nodes: [text] }).integer("nodes", 3, [1, 9]),
      /--nodes must be an integer from 1 to 9, got/,
    );
});
