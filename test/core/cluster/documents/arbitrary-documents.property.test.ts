import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { parseClusterDocument } from "../../../../src/core/cluster/documents/cluster-document.ts";
import { parseDynamicConfig } from "../../../../src/core/cluster/documents/dynamic-config.ts";
import { parseHistory } from "../../../../src/core/cluster/documents/history.ts";
import { parseReport } from "../../../../src/core/cluster/documents/report.ts";
import { parseTags } from "../../../../src/core/cluster/values/tags.ts";

/** Objects with the keys that the parsers read, and arbitrary values. */
const nearly = fc.dictionary(
  fc.constantFrom(
    "role",
    "state",
    "xlog",
    "timeline",
    "replication",
    "tags",
    "patroni",
    "ha",
    "members",
    "scope",
    "name",
    "api_url",
    "ttl",
    "loop_wait",
  ),
  fc.jsonValue(),
);

describe("a parser of documents from nodes", () => {
  const readers = { parseReport, parseClusterDocument, parseDynamicConfig, parseHistory, parseTags };
  for (const [name, read] of Object.entries(readers)) {
    test(`${name} never throws, whatever JSON it gets`, () => {
      fc.assert(fc.property(fc.oneof(fc.jsonValue(), nearly, fc.array(nearly)), (value) => void read(value)));
    });
  }

  test("parseClusterDocument reads or omits members with arbitrary fields", () => {
    const members = fc.array(
      fc.record({
        name: fc.jsonValue(),
        role: fc.jsonValue(),
        api_url: fc.oneof(fc.jsonValue(), fc.webUrl(), fc.string()),
        port: fc.jsonValue(),
      }),
    );
    fc.assert(
      fc.property(members, (rows) => {
        for (const { api } of parseClusterDocument({ members: rows })?.members ?? [])
          assert.equal(new URL(api).origin.length > 0, true);
      }),
    );
  });
});
