import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseReport } from "../../../../src/core/cluster/documents/report.ts";
import {
  priorityInFailover,
  isNoFailover,
  isNoLoadBalance,
  isNoStream,
  parseTags,
  tagTexts,
  writtenTags,
  type Tags,
} from "../../../../src/core/cluster/values/tags.ts";

interface Row {
  /** The value in Patroni's configuration. */
  readonly yaml: string;
  /** The value in the status document, as JSON text. */
  readonly served: string;
  /** The only `tag_KEY=` that Patroni answers with 200; `null`: none. */
  readonly matches: string | null;
  readonly noloadbalance: boolean;
  readonly nostream: boolean;
  readonly nofailover: boolean;
  readonly failover_priority: number;
  readonly nofailover_by_priority: boolean;
}

interface Table {
  readonly patroni: string;
  readonly rows: readonly Row[];
  readonly pairs: readonly Pick<Row, "served" | "nofailover" | "failover_priority">[];
}

const table: Table = JSON.parse(readFileSync(join("test", "spec", "patroni-tags.json"), "utf8"));

/** The tags of a status document with these tags, as JSON text. */
function tagsOf(tags: string): Tags {
  const document = `{"state": "running", "role": "replica", "xlog": {"location": 1.0}, "tags": ${tags}}`;
  return parseReport(JSON.parse(document), document)?.tags ?? new Map();
}

describe(`tags mean what Patroni ${table.patroni} makes of them`, () => {
  for (const row of table.rows) {
    const as = (key: string): Tags => tagsOf(`{"zone": "a", ${JSON.stringify(key)}: ${row.served}}`);
    test(row.yaml, () => {
      const found = {
        ...row,
        matches: as("x").get("x")?.text ?? null,
        noloadbalance: isNoLoadBalance(as("noloadbalance")),
        nostream: isNoStream(as("nostream")),
        nofailover: isNoFailover(as("nofailover")),
        failover_priority: priorityInFailover(as("failover_priority")),
        nofailover_by_priority: isNoFailover(as("failover_priority")),
      };
      assert.deepEqual(found, row);
    });
    test(`${row.yaml} once it was written to an incident file or the history`, () => {
      const again = parseTags(JSON.parse(JSON.stringify(writtenTags(as("noloadbalance")))));
      assert.equal(isNoLoadBalance(again), row.noloadbalance);
      if (row.noloadbalance) assert.deepEqual(again, as("noloadbalance"));
    });
  }
  for (const { served, ...expected } of table.pairs)
    test(served, () => {
      const tags = tagsOf(served);
      assert.deepEqual({ nofailover: isNoFailover(tags), failover_priority: priorityInFailover(tags) }, expected);
    });
});

test("a value that is no object has no tags", () => {
  for (const value of [null, undefined, 1, "a", [1], true]) assert.equal(parseTags(value).size, 0);
});

test("a value that is nested too deeply for a text has one nevertheless", () => {
  const deep = "[".repeat(200) + "]".repeat(200);
  assert.ok(tagsOf(`{"x": ${deep}}`).get("x")?.isTrue);
});

test("the texts of tags leave out restrictions that are not in effect", () => {
  const tags = tagsOf(
    '{"nofailover": false, "failover_priority": 1, "nostream": "x", "noloadbalance": "false", "a": false}',
  );
  assert.deepEqual(tagTexts(tags), { failover_priority: "1", noloadbalance: "false", a: "false" });
});
