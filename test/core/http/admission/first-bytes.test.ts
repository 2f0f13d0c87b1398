import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { parse } from "yaml";
import { readFirstBytes } from "../../../../src/core/http/admission/first-bytes.ts";
import { simpleHeadMax } from "../../../../src/core/http/message/simple-request-parser.ts";

interface Row {
  readonly bytes: string;
  readonly http?: true;
  readonly more?: true;
  readonly reads?: string;
  readonly rejected?: string;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/http/first-bytes.yaml", "utf8"));

for (const row of rows)
  test(`${JSON.stringify(row.bytes)} is ${row.rejected ?? (row.more ? "not enough" : "read")}`, () => {
    const found = readFirstBytes(Buffer.from(row.bytes, "latin1"));
    if (row.rejected !== undefined) assert.deepEqual(found, { kind: "rejected", reason: row.rejected });
    else if (row.more === true) assert.deepEqual(found, { kind: "more" });
    else if (row.reads === undefined) assert.deepEqual(found, { kind: "http", bytes: null });
    else assert.equal(found.kind === "http" && found.bytes?.toString("latin1"), row.reads);
  });

test("a TLS handshake is one from its first byte on", () => {
  for (const hello of ["16", "1603", "160301", "16030100c0010000bc0303"])
    assert.deepEqual(readFirstBytes(Buffer.from(hello, "hex")), { kind: "tls" });
});

test("a request in pieces is decided as the whole one, however it is cut", () => {
  const whole = rows.filter(({ more }) => more !== true).map(({ bytes }) => Buffer.from(bytes, "latin1"));
  fc.assert(
    fc.property(fc.constantFrom(...whole), fc.nat(), (bytes, cut) => {
      const part = readFirstBytes(bytes.subarray(0, cut % (bytes.length + 1)));
      // What is read before the end of the head goes to node:http, which reads the rest itself.
      if (part.kind !== "more" && !(part.kind === "http" && part.bytes === null))
        assert.deepEqual(part, readFirstBytes(bytes));
    }),
  );
});

test("no bytes make it throw, and it waits for no more than the longest simple head", () => {
  const beginning = fc.constantFrom("", "GET /", "GET /primary HTTP/1.1\n", "\r\n", "\x16");
  fc.assert(
    fc.property(beginning, fc.string({ unit: "binary-ascii", maxLength: 6_000, size: "max" }), (text, rest) => {
      const bytes = Buffer.from(text + rest, "latin1");
      if (readFirstBytes(bytes).kind === "more") assert.ok(bytes.length <= simpleHeadMax);
    }),
  );
});
