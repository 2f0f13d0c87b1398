import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { parse } from "yaml";

const bundle = readFileSync(new URL("../../../../src/features/page/web/vendor/yaml.js", import.meta.url), "utf8");
const context = createContext(Object.create(null));
runInContext(bundle, context, { filename: "yaml.js" });
const read = runInContext("(text) => JSON.stringify(rolecallYaml.parseIncidentText(text))", context) as (
  text: string,
) => string;

for (const text of [
  "a: [1, 2.5, 0x1F, 0o17, .inf, -1e3, true, no, ~, null, '1', \"\\u00e9\\n\"]",
  "a: &x { b: 1 }\nc: *x\n? d\n: e\n",
  "%YAML 1.1\n---\na: &x { b: yes, t: 2001-12-14, n: 1_000, s: 190:20:30 }\nc: { <<: *x, d: off }\n",
  "a: |\n  one\n   two\n\nb: >-\n  folded\n  text\n\n  end\n",
  "- !!str 1\n- !!set { a, b }\n- !!omap [ a: 1, b: 2 ]\n- !!pairs [ a: 1, a: 2 ]\n",
  "# comment\n--- # begins\na: # why\n  - b\n  -   - c\n  - { d, e: }\n...\n",
  "",
  "1: one\n1.5: x\ntrue: y\n~: z\n",
])
  test(`the page reads YAML as the program does: ${JSON.stringify(text).slice(0, 60)}`, () =>
    assert.equal(read(text), JSON.stringify(parse(text, { logLevel: "error" }))));

for (const text of ["a: [1", "a: *missing", "a: 1\na: 2", "\tb: 1", "a: b: c"])
  test(`the page refuses what the program refuses: ${JSON.stringify(text)}`, () => {
    const messageOf = (work: () => unknown): string => {
      try {
        work();
      } catch (error) {
        return (error as Error).message;
      }
      return "no error";
    };
    const own = messageOf(() => parse(text));
    assert.notEqual(own, "no error");
    assert.equal(
      messageOf(() => read(text)),
      own.split("\n")[0]?.replace(/:$/, ""),
    );
  });

test("a key that is a collection is refused: what writes it is left out", () =>
  assert.throws(() => read("{ [a, b]: 1 }"), /Keys of mappings must be scalars/));
