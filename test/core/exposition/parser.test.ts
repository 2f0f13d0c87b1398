import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { ExpositionReader, parseSample } from "../../../src/core/exposition/parser.ts";

function read(page: Buffer, names: readonly string[], cut: number = page.length) {
  const reader = new ExpositionReader(new Set(names));
  for (let at = 0; at < page.length; at += Math.max(1, cut)) reader.push(page.subarray(at, at + Math.max(1, cut)));
  return reader.end();
}

suite("a line of the exposition format", () => {
  const rows: readonly [string, unknown][] = [
    ["pg_up 1", { name: "pg_up", labels: {}, value: 1 }],
    ["pg_lsn 6.7108864e+07", { name: "pg_lsn", labels: {}, value: 67_108_864 }],
    ['a{b="c"} 2 1795242555000', { name: "a", labels: { b: "c" }, value: 2 }],
    ['a{b="c",d="e",} -.5\r', { name: "a", labels: { b: "c", d: "e" }, value: -0.5 }],
    ['a{ b = "x\\"y\\\\z\\n{}" } +3.', { name: "a", labels: { b: 'x"y\\z\n{}' }, value: 3 }],
    ["a{} 1", { name: "a", labels: {}, value: 1 }],
    ["a:b\t7", { name: "a:b", labels: {}, value: 7 }],
    ["pg_lag NaN", undefined],
    ["pg_lag +Inf", undefined],
    ["pg_lag 1e999", undefined],
    ["pg_lag", undefined],
    ["pg_lag 0x10", undefined],
    ["pg_lag 1 2 3", undefined],
    ['a{b="c" 1', undefined],
    ["a{b=c} 1", undefined],
    ["# HELP a b", undefined],
    ["", undefined],
  ];
  for (const [line, expected] of rows) {
    test(`${JSON.stringify(line)} is ${expected === undefined ? "no sample" : "a sample"}`, () => {
      const sample = parseSample(line);
      assert.deepEqual(
        sample === undefined ? undefined : { ...sample, labels: Object.fromEntries(sample.labels) },
        expected,
      );
    });
  }
});

suite("a page is read as it comes in", () => {
  test("keeps samples of wanted names only", () => {
    const page = Buffer.from('# TYPE a gauge\na 1\nab 2\nb 3\na{x="1"} 4');
    assert.deepEqual(
      read(page, ["a"]).map(({ value }) => value),
      [1, 4],
    );
  });

  test("skips a line above the limit without buffering it, and reads the next one", () => {
    const reader = new ExpositionReader(new Set(["a"]));
    for (let times = 0; times < 100; times += 1) {
      reader.push(Buffer.from(`a{x="${"y".repeat(10_000)}`));
      assert.ok(reader.held.bytes <= 65_536);
    }
    reader.push(Buffer.from('"} 1\na 2\n'));
    assert.deepEqual(
      reader.end().map(({ value }) => value),
      [2],
    );
  });

  test("keeps a bounded number of samples of a page of 6 MB", () => {
    const reader = new ExpositionReader(new Set(["pg_repl_state"]));
    const chunk = Buffer.from('pg_repl_state{appname="pg2",pid="1"} 0\n'.repeat(1_600));
    for (let bytes = 0; bytes < 6_000_000; bytes += chunk.length) reader.push(chunk);
    assert.equal(reader.held.samples, 4_096);
    assert.equal(reader.end().length, 4_096);
  });

  test("gives the same samples however the page is cut", () => {
    const line = fc.oneof(
      fc.constantFrom("pg_up 1", 'pg_up{a="b\\"c"} 2', "# HELP pg_up x", "", "pg_up NaN", "other 3", "pg_up 4 5"),
      fc.string({ maxLength: 30 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (lines, cut) => {
        const page = Buffer.from(lines.join("\n"));
        assert.deepEqual(read(page, ["pg_up"], cut), read(page, ["pg_up"]));
      }),
    );
  });

  test("neither throws nor exceeds a limit, whatever bytes come", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }),
      fc
        .array(fc.constantFrom("pg_up", "{", "}", '"', "\\", "\n", "=", ",", " ", "1", "NaN", "#", "\u0000", "é"), {
          maxLength: 300,
        })
        .map((parts) => new TextEncoder().encode(parts.join(""))),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 20 }), (chunks) => {
        const reader = new ExpositionReader(new Set(["pg_up"]));
        for (const chunk of chunks) {
          reader.push(Buffer.from(chunk));
          assert.ok(reader.held.bytes <= 65_536 && reader.held.samples <= 4_096);
        }
        for (const { name, value } of reader.end()) assert.ok(name === "pg_up" && Number.isFinite(value));
      }),
      { numRuns: 300 },
    );
  });
});
