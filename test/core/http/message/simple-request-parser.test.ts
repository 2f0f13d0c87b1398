import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { parse } from "yaml";
import { readSimpleRequest } from "../../../../src/core/http/message/simple-request-parser.ts";
import { targetMax } from "../../../../src/core/http/message/request-target.ts";

interface Row {
  readonly title: string;
  readonly lines: readonly string[];
  readonly means: { readonly keepsConnection: boolean; readonly [part: string]: unknown } | null;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/http/simple-requests.yaml", "utf8"));

for (const { title, lines, means } of rows) {
  test(`${title} is ${means === null ? "left to node:http" : "a simple request"}`, () => {
    const read = readSimpleRequest(`${lines.join("\r\n")}\r\n\r\n`);
    if (means === null) assert.equal(read, null);
    else {
      const { keepsConnection, ...request } = means;
      const absent = { host: undefined, nodeHeader: undefined, serverState: undefined };
      assert.deepEqual(read, { request: { ...absent, ...request }, keepsConnection });
    }
  });
}

test("the longest target is a simple request, and one more character is not", () => {
  const withTarget = (length: number): string => `GET /${"a".repeat(length - 1)} HTTP/1.1\r\n\r\n`;
  assert.equal(readSimpleRequest(withTarget(targetMax))?.request.target.length, targetMax);
  assert.equal(readSimpleRequest(withTarget(targetMax + 1)), null);
});

test("no part of a simple request, and nothing after it, is a simple request", () => {
  const whole = "GET /primary HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n";
  for (let length = 0; length < whole.length; length += 1)
    assert.equal(readSimpleRequest(whole.slice(0, length)), null);
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 80 }), (rest) => {
      assert.equal(readSimpleRequest(whole + rest), null);
    }),
  );
});

test("bare carriage returns and line feeds are left to node:http, wherever they are", () => {
  const whole = "GET /primary HTTP/1.1\r\nHost: any\r\n\r\n";
  for (let at = 0; at <= whole.length; at += 1) {
    for (const extra of ["\r", "\n", "\0"])
      assert.equal(readSimpleRequest(whole.slice(0, at) + extra + whole.slice(at)), null, JSON.stringify([at, extra]));
  }
});
