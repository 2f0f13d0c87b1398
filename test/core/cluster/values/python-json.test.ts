/** JSON of Python's writers. `test/fixtures/python-json/generate.py` recorded the cases. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import "../../../fake/property-seed.ts";
import { isObject, parseJson } from "../../../../src/core/cluster/values/json.ts";
import {
  hasUnreadable,
  parsePythonJson,
  readPythonJson,
  tokenize,
  withoutUnreadable,
} from "../../../../src/core/cluster/values/python-json.ts";

interface Case {
  readonly text: string;
  /** What Python reads, as `canonical` writes it; `null`: it refuses. */
  readonly reads: string | null;
}

const cases: readonly Case[] = JSON.parse(readFileSync(join("test", "fixtures", "python-json", "cases.json"), "utf8"));

/** The same form as the generator's. */
function canonical(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return Number.isNaN(value) ? "nan" : bytes.toString("hex");
  }
  if (typeof value === "string") return `"${units(value)}"`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  assert.ok(isObject(value));
  const members = Object.entries(value).map(([key, member]): [string, string] => [units(key), canonical(member)]);
  const inOrder = members.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${inOrder.map(([key, member]) => `${key}:${member}`).join(",")}}`;
}

function units(text: string): string {
  return Buffer.from(text, "utf16le").swap16().toString("hex");
}

/** A text of strict JSON, as some writer may write it. */
const strictText = fc
  .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, "\t"))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

const brokenText = fc
  .tuple(
    strictText,
    fc.nat(),
    fc.constantFrom("", ...Array.from(',:[]{}"\\-+.eE0 \t\n\u0001'), "\\u12", "\\ud800", "00", "tru", "nullx"),
  )
  .map(([text, at, added]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + added + text.slice(from + (added === "" ? 1 : 0));
  });

describe("a text that Python", () => {
  test("writes or reads is read as Python reads it, and others are refused as Python refuses them", () => {
    assert.ok(cases.filter(({ text, reads }) => reads !== null && parseJson(text) === undefined).length > 80);
    assert.ok(cases.filter(({ reads }) => reads === null).length > 80);
    for (const { text, reads } of cases) {
      const read = readPythonJson(text);
      assert.equal("value" in read ? canonical(read.value) : null, reads, JSON.stringify(text));
    }
  });
});

describe("the tokenizer", () => {
  test("reads strict JSON as JSON.parse does", () => {
    fc.assert(
      fc.property(strictText, (text) => {
        const read = tokenize(text);
        assert.ok("value" in read);
        assert.deepStrictEqual(read.value, JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("refuses what JSON.parse refuses, beside the three numbers", () => {
    fc.assert(
      fc.property(brokenText, (text) => {
        const read = tokenize(text);
        assert.deepStrictEqual("value" in read ? read.value : undefined, parseJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("keeps the prototype of an object with a key __proto__", () => {
    const read = parsePythonJson('{"__proto__": {"state": "running"}, "x": NaN}');
    assert.ok(isObject(read));
    assert.deepEqual([Object.keys(read), read["state"]], [["__proto__", "x"], undefined]);
  });

  test("says where a text ceases to be JSON", () => {
    for (const [text, failedAt] of [
      ['{"a": NaN, "b": nan}', 16],
      ['{"a": NaN', 9],
      ["[1, NaN, }", 9],
      ['{"a": NaN} x', 11],
      ["", 0],
    ] as const)
      assert.deepEqual(readPythonJson(text), { failedAt }, text);
  });

  test("reads no text that is nested more than 1,000 deep, and never throws", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}NaN${"]".repeat(depth)}`;
    assert.ok("value" in readPythonJson(nested(1_000)));
    for (const depth of [1_001, 100_000]) assert.ok("failedAt" in readPythonJson(nested(depth)));
  });

  test("takes a string of a megabyte", () => {
    const long = "\\\\".repeat(500_000);
    const read = parsePythonJson(`["${long}", NaN]`);
    assert.ok(Array.isArray(read) && read[0] === "\\".repeat(500_000));
  });
});

describe("a value that strict JSON has no form for", () => {
  for (const [text, isFound, strict] of [
    ['{"a": 1, "b": "x"}', false, { a: 1, b: "x" }],
    ['{"a": NaN}', true, { a: null }],
    ['{"a": [1, {"b": -Infinity}]}', true, { a: [1, { b: null }] }],
    ['{"a": "NaN", "b": "Infinity"}', false, { a: "NaN", b: "Infinity" }],
    ['{"a": "\\ud83d\\ude00"}', false, { a: "\u{1f600}" }],
    ['{"a": "x\\ud83d"}', true, { a: null }],
    ['{"x\\uDE00": 1}', true, { "x\ufffd": 1 }],
  ] as const)
    test(`${isFound ? "is null" : "is not found"} in ${text}`, () => {
      const value = parsePythonJson(text);
      assert.equal(hasUnreadable(value, text), isFound);
      assert.deepEqual(withoutUnreadable(value), strict);
    });
});
