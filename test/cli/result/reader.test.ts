import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { readResult } from "../../../src/cli/result/reader.ts";
import { resultSchema } from "../../../src/cli/result/schema.ts";
import { conformsToResultSchema } from "../../fake/result-document.ts";

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
  test(`a document with ${given} is ${valid ? "read" : "refused"}`, () => {
    const document = { ...base, ...change };
    for (const [key, value] of Object.entries(change))
      if (value === "absent") delete document[key as keyof typeof document];
    const read = readResult(JSON.stringify(document));
    assert.equal(read.ok, valid);
    assert.equal(conformsToResultSchema(document), valid, "ajv says otherwise");
    if (!read.ok && pointer !== undefined)
      assert.ok(
        read.violations.some((violation) => violation.pointer === pointer),
        JSON.stringify(read.violations),
      );
  });
}

test("what is no JSON, or no object, is refused with a sentence", () => {
  for (const text of ["", "{", "[]", "null", '"x"', "1"]) {
    const read = readResult(text);
    assert.equal(read.ok, false);
    if (!read.ok) assert.ok(read.violations.length > 0);
  }
});

/** Values near the schema, so that both sides of every rule are met. */
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
const part = (keys: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.record(Object.fromEntries(keys.map((key) => [key, nearly])), { requiredKeys: [] }) },
    { weight: 1, arbitrary: nearly },
  );

test("our reader and an independent validator agree on documents near the schema", () => {
  const definitions = resultSchema["$defs"] as Record<string, { properties: Record<string, unknown> }>;
  const listOf = (name: string): fc.Arbitrary<unknown> =>
    fc.array(part(Object.keys(definitions[name]?.properties ?? {})), { maxLength: 2 });
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
