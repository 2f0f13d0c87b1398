import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { parse } from "yaml";
import { parseRequestTarget } from "../../../../src/core/http/message/request-target.ts";

interface Row {
  readonly target: string;
  readonly cluster?: string;
  readonly node?: string;
  readonly path?: string;
  readonly query?: string;
  readonly problem?: string;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/http/request-targets.yaml", "utf8"));

for (const { target, cluster = null, node = null, path = "", query = "", problem } of rows) {
  test(`the target ${target} ${problem === undefined ? `has the path "${path}"` : "cannot be decoded"}`, () => {
    const parsed = parseRequestTarget(target);
    if (problem === undefined) assert.deepEqual(parsed, { cluster, node, path, query });
    else assert.equal("problem" in parsed && parsed.problem.value, problem);
  });
}

test("names of clusters and nodes survive percent-encoding, whatever they contain", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(name, name, (cluster, node) => {
      const target = `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/replica`;
      assert.deepEqual(parseRequestTarget(target), { cluster, node, path: "replica", query: "" });
    }),
  );
});

test("no text makes the parser throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseRequestTarget(text)));
});
