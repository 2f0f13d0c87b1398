import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  countOf,
  isObject,
  nameOf,
  nodeJson,
  parseJson,
  withMember,
} from "../../../../src/core/cluster/values/json.ts";

test("parseJson returns undefined for text that is not JSON", () => {
  assert.equal(parseJson("{"), undefined);
  assert.equal(parseJson(""), undefined);
  assert.deepEqual(parseJson("[1]"), [1]);
});

test("nodeJson writes what Python's json.dumps writes", () => {
  const value = { state: "running", xlog: { location: 1 }, list: [1, { a: [] }, "a,\n b: c"], empty: {}, none: null };
  assert.equal(
    nodeJson(value),
    String.raw`{"state": "running", "xlog": {"location": 1}, "list": [1, {"a": []}, "a,\n b: c"], "empty": {}, "none": null}`,
  );
  fc.assert(
    fc.property(fc.jsonValue(), (given) =>
      assert.deepEqual(JSON.parse(nodeJson(given)), JSON.parse(JSON.stringify(given))),
    ),
  );
});

test("nodeJson returns the text that a value was parsed from if it is written so, and never another one", () => {
  const written = String.raw`{"state": "a, \", : b\\", "xlog": {"location": 1}, "list": [1, ",", "\\"]}`;
  assert.equal(nodeJson(JSON.parse(written), written), written);
  for (const text of [
    '{"a":1}',
    '{"a": 1 }',
    '{"a": 1}\n',
    '{"a": 1,  "b": 2}',
    '{"a": 1, "a": 1}',
    '{"a": 1.0}',
    '{"a":"b, c"}',
    '{"a": "b,c"}',
    '{"a": ["b","c"]}',
    String.raw`{"a": "\u00fc"}`,
    String.raw`{"a": "\/"}`,
    "[1,2]",
  ])
    assert.equal(nodeJson(JSON.parse(text), text), nodeJson(JSON.parse(text)), text);
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(nodeJson, JSON.stringify), fc.nat(), (given, write, at) => {
      const text = write(given);
      const spaced = `${text.slice(0, at % text.length)} ${text.slice(at % text.length)}`;
      for (const one of [text, spaced]) {
        const value = parseJson(one);
        if (value !== undefined) assert.equal(nodeJson(value, one), nodeJson(value));
      }
    }),
  );
});

test("withMember appends a member to any serialized object", () => {
  const objects = fc.dictionary(
    fc.string().filter((key) => key !== "rolecall"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(objects, fc.jsonValue(), (object, value) => {
      const text = withMember(nodeJson(object), "rolecall", nodeJson(value));
      assert.equal(text, nodeJson({ ...object, rolecall: value }));
    }),
  );
});

test("nameOf rejects unprintable characters and long strings", () => {
  assert.equal(nameOf("pg-1 ü"), "pg-1 ü");
  for (const value of ["a\nb", "a\u0000", "a\u2028b", "x".repeat(257), 1, null]) assert.equal(nameOf(value), null);
  assert.equal(nameOf("abc", 2), null);
});

test("countOf accepts whole numbers from 0 to 2^53 - 1", () => {
  assert.deepEqual([0, 7, 2 ** 53 - 1].map(countOf), [0, 7, 2 ** 53 - 1]);
  assert.deepEqual([-1, 1.5, 2 ** 53, Number.NaN, "7", null].map(countOf), [null, null, null, null, null, null]);
});

test("isObject rejects arrays, null and primitives", () => {
  assert.deepEqual([{}, [], null, "x"].map(isObject), [true, false, false, false]);
});
