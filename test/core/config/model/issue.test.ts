import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { describeFound, formatPath, valueIssue, type ConfigPath } from "../../../../src/core/config/model/issue.ts";

const paths: readonly (readonly [path: ConfigPath, text: string])[] = [
  [[], ""],
  [["clusters", 0, "nodes", 1, "api"], "clusters[0].nodes[1].api"],
  [[0, "name"], "[0].name"],
  [["labels", "a.b"], 'labels["a.b"]'],
  [["x".repeat(65)], `["${"x".repeat(64)}"]`],
];
for (const [path, text] of paths) {
  test(`writes the path ${JSON.stringify(path).slice(0, 60)} as ${text.slice(0, 60)}`, () => {
    assert.equal(formatPath(path), text);
  });
}

const values: readonly (readonly [value: unknown, text: string])[] = [
  [undefined, "nothing"],
  [null, "null"],
  [[], "an empty list"],
  [[1, 2], "a list of 2"],
  [{ a: 1 }, "a mapping"],
  [1.5, "1.5"],
  [false, "false"],
  ["1s", '"1s"'],
  ["a\nb", String.raw`"a\nb"`],
  ["http://user:secret@db:8008", '"http://***@db:8008"'],
  ["x".repeat(100), `"${"x".repeat(80)}…"`],
];
for (const [value, text] of values) {
  test(`describes ${JSON.stringify(value)?.slice(0, 40) ?? "a missing value"} as ${text.slice(0, 40)}`, () => {
    assert.equal(describeFound(value), text);
  });
}

test("no text can break the line of a message or reveal the password of an address", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.stringMatching(/^[a-z0-9]{6,20}$/),
      (text, secret) => {
        const found = describeFound(`http://user:${secret}@${text}`);
        assert.ok(!found.includes("\n") && !found.includes("\u001b") && found.length < 1_000);
        assert.ok(!found.includes(`:${secret}@`));
      },
    ),
  );
});

test("an issue for a value names its path, what was found and what is allowed", () => {
  assert.deepEqual(valueIssue(["interval"], 5, "a duration"), {
    path: ["interval"],
    found: "5",
    allowed: "a duration",
    message: null,
    isKey: false,
  });
});
