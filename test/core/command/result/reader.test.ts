import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { readResult } from "../../../../src/core/command/result/reader.ts";
import { resultSchema } from "../../../../src/core/command/result/schema.ts";
import { conformsToResultSchema } from "../../../fake/result-document.ts";

interface Row {
  readonly given: string;
  readonly change: Readonly<Record<string, unknown>>;
  readonly valid: boolean;
  readonly pointer?: string;
}

const { base, rows } = JSON.parse(readFileSync("test/spec/cli/documents.json", "utf8")) as {
  base: Record<string, unknown>;
  rows: readonly Row[];
};

for (const { given, change, valid, pointer } of rows) {
  test(`${valid ? "accepts" : "rejects"} a document with ${given}`, () => {
    const document = { ...base, ...change };
    for (const [key, value] of Object.entries(change))
      if (value === "absent") delete document[key as keyof typeof document];
    const read = readResult(JSON.stringify(document));
    assert.equal(read.ok, valid);
    assert.equal(conformsToResultSchema(document), valid, "ajv disagrees");
    if (!read.ok && pointer !== undefined)
      assert.ok(
        read.violations.some((violation) => violation.pointer === pointer),
        JSON.stringify(read.violations),
      );
  });
}

test("rejects text that is not a JSON object, with a message", () => {
  for (const text of ["", "{", "[]", "null", '"x"', "1"]) {
    const read = readResult(text);
    assert.equal(read.ok, false);
    if (!read.ok) assert.ok(read.violations.length > 0);
  }
});

/** Values that are close to the schema, so that every rule is both met and broken. */
const nearly = fc.oneof(
  fc.constantFrom<unknown>(
    "",
    "x",
    "info",
    "complete",
    0,
    1,
    2,
    3,
    -1,
    1.5,
    null,
    true,
    [],
    {},
    "2026-01-31T12:00:00Z",
    "2026-13-01T00:00:00Z",
  ),
  fc.string(),
);
const objectOf = (keys: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.record(Object.fromEntries(keys.map((key) => [key, nearly])), { requiredKeys: [] }) },
    { weight: 1, arbitrary: nearly },
  );

test("agrees with an independent validator on documents close to the schema", () => {
  const definitions = resultSchema["$defs"] as Record<string, { properties: Record<string, unknown> }>;
  const listOf = (name: string): fc.Arbitrary<unknown> =>
    fc.array(objectOf(Object.keys(definitions[name]?.properties ?? {})), { maxLength: 2 });
  const near = fc.record(
    {
      diagnostics: listOf("Diagnostic"),
      coverage: listOf("Coverage"),
      evidence: listOf("Evidence"),
      exit_code: nearly,
      site: nearly,
      extra: nearly,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(near, (change) => {
      const document = { ...base, ...change };
      assert.equal(
        readResult(JSON.stringify(document)).ok,
        conformsToResultSchema(JSON.parse(JSON.stringify(document))),
      );
    }),
    { numRuns: 500 },
  );
});
