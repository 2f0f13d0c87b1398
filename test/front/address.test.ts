import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { resolveAddress, type Bound } from "../../src/front/address.ts";
import { parseTarget } from "../../src/front/target.ts";
import { boundOf, requestOf } from "../fake/front.ts";

interface Row {
  readonly given: string;
  readonly target: string;
  readonly header?: string;
  readonly host?: string;
  readonly bound?: Partial<Bound>;
  readonly means?: string;
  readonly isAnyCase?: boolean;
  readonly refuses?: string;
  readonly saying?: string;
}

const rows: readonly Row[] = JSON.parse(readFileSync("test/spec/addressing.json", "utf8"));

for (const row of rows) {
  test(`${row.given}: ${row.refuses === undefined ? `means ${row.means}` : `is refused for its ${row.refuses}`}`, () => {
    const target = parseTarget(row.target);
    assert.ok(!("problem" in target));
    const address = resolveAddress(target, requestOf(row.target, { host: row.host, nodeHeader: row.header }), boundOf(row.bound));
    if ("problem" in address) {
      assert.equal(address.problem.thing, row.refuses);
      if (row.saying !== undefined) assert.equal(address.problem.value, row.saying);
      return;
    }
    assert.equal(address.node === null ? address.cluster : `${address.cluster}/${address.node}`, row.means);
    assert.equal(address.isAnyCase, row.isAnyCase ?? false);
  });
}
