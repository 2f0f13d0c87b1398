import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { parseIncidentText } from "../../../../src/features/replay/cli/incident-text.ts";

const keys = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `k${at}: 1`);

test("the text of an incident file is read as YAML", () => {
  const text = "name: a night\nsteps:\n  - { at: 1s, nodes: { pg1: &r { state: running }, pg2: *r } }\n  - at: 2s\n";
  assert.deepEqual(parseIncidentText(text), parse(text));
  assert.equal(parseIncidentText(""), null);
  assert.deepEqual(parseIncidentText(keys(5_000).join("\n")), parse(keys(5_000).join("\n")));
});

for (const [what, text, message] of [
  ["a mapping of too many keys", keys(200_000).join("\n"), "a mapping must have at most 5000 keys, got more"],
  [
    "such a mapping in braces",
    `steps: [{${keys(200_000).join(", ")}}]`,
    "a mapping must have at most 5000 keys, got more",
  ],
  ["a key without a value, many times", "? a\n".repeat(200_000), "a mapping must have at most 5000 keys, got more"],
  ["nested lists", "[".repeat(100_000), "mappings and lists must be nested at most 64 deep, got more"],
  ["nested mappings", "{a: ".repeat(100_000), "mappings and lists must be nested at most 64 deep, got more"],
  ["a repeated key", "a: 1\na: 2\n", "Map keys must be unique at line 2, column 1"],
  ["several documents", "a: 1\n---\nb: 1\n", "an incident file must be one YAML document, got several"],
] as const) {
  test(`${what}: refused before the rest is read`, () => {
    assert.throws(() => parseIncidentText(text), { message });
  });
}
