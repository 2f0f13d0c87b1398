import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "node:test";
import { errorMessageOf, parseRange, parseWatchLine } from "../../../src/core/etcd/etcd-messages.ts";
import { LineSplitter } from "../../../src/core/etcd/etcd-watch.ts";

const folder = "/service/demo/";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Values of any type where a message has others. */
const anyValue = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(base64(`${folder}leader`), base64("pg1")));
const anyKv = fc.record({ key: anyValue, value: anyValue }, { requiredKeys: [] });
const anyEvent = fc.record({ type: anyValue, kv: fc.oneof(anyKv, anyValue) }, { requiredKeys: [] });
const anyResult = fc.record(
  {
    created: anyValue,
    canceled: anyValue,
    cancel_reason: anyValue,
    compact_revision: anyValue,
    events: fc.oneof(fc.array(fc.oneof(anyEvent, anyValue), { maxLength: 4 }), anyValue),
  },
  { requiredKeys: [] },
);
const anyMessage = fc.oneof(
  fc.jsonValue(),
  fc.record({ result: fc.oneof(anyResult, anyValue), error: anyValue }, { requiredKeys: [] }),
);
const anyRange = fc.record(
  {
    header: fc.oneof(fc.record({ revision: anyValue, cluster_id: anyValue }, { requiredKeys: [] }), anyValue),
    kvs: fc.oneof(fc.array(fc.oneof(anyKv, anyValue), { maxLength: 3 }), anyValue),
  },
  { requiredKeys: [] },
);

for (const revision of [{ toString: 0 }, { valueOf: 1 }, [[["5"]]], ["5"], true, null, "", "x", "-1", 1.5])
  test(`a revision that is no number is no response: ${JSON.stringify(revision)}`, () => {
    assert.equal(parseRange({ header: { cluster_id: "1", revision } }), null);
    const canceled = { result: { canceled: true, compact_revision: revision } };
    assert.equal(parseWatchLine(JSON.stringify(canceled), folder)?.kind, "ended");
  });

test("any line of a watch is a message or none; the keys and values of its events are text", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyMessage.map((message) => JSON.stringify(message)),
        fc.string(),
      ),
      (line) => {
        const message = parseWatchLine(line, folder);
        if (message?.kind !== "events") return;
        for (const { key, value } of message.events) {
          assert.equal(typeof key, "string");
          assert.ok(value === null || typeof value === "string");
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test("any response to a read is a range with a revision, or none", () => {
  fc.assert(
    fc.property(fc.oneof(anyRange, fc.jsonValue()), (body) => {
      errorMessageOf(body);
      const range = parseRange(body);
      if (range === null) return;
      assert.ok(Number.isSafeInteger(range.revision) && range.revision > 0);
      assert.ok(range.found.every(({ value }) => typeof value === "string"));
    }),
    { numRuns: 1_000 },
  );
});

test("lines are the same however they are cut into pieces, and none is longer than the limit", () => {
  const lineMax = 20;
  const lines = fc.array(fc.stringMatching(/^[a-zé]{1,25}$/), { maxLength: 8 });
  fc.assert(
    fc.property(lines, fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 30 }), (texts, sizes) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      const splitter = new LineSplitter(lineMax);
      const found: string[] = [];
      let from = 0;
      for (const size of [...sizes, bytes.length]) {
        const added = splitter.add(bytes.subarray(from, from + size));
        from += size;
        if (typeof added === "string") {
          assert.equal(added, "too_long");
          assert.ok(texts.some((text) => Buffer.byteLength(text) > lineMax));
          return;
        }
        found.push(...added);
        if (from >= bytes.length) break;
      }
      assert.deepEqual(found, texts);
      assert.ok(texts.every((text) => Buffer.byteLength(text) <= lineMax));
    }),
  );
});
