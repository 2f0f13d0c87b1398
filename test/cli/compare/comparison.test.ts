import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Comparison, type Counted } from "../../../src/cli/compare/comparison.ts";
import { readHaproxyChecks, refusalOf } from "../../../src/cli/compare/haproxy-file.ts";

/** One letter an asking, 100 ms apart: `+` a yes, `-` a no. */
function compare(node: string, rolecall: string): Counted {
  const comparison = new Comparison(500);
  const said = (sign: string | undefined, why: string): { fit: boolean; word: string } => ({
    fit: sign === "+",
    word: sign === "+" ? "200" : why,
  });
  for (const [at, sign] of node.split("").entries())
    comparison.add(
      { node: "pg1", check: "/replica", atMs: at * 100 },
      said(sign, "503"),
      said(rolecall[at], "503 detached"),
    );
  const [row] = comparison.rows;
  assert.ok(row);
  return row;
}

test("two that say the same agree, and changes at the same asking are together", () => {
  const { askings, agreements, firsts } = compare("++--++", "++--++");
  assert.deepEqual([askings, agreements, firsts.together], [6, 6, 2]);
});

test("who follows a change first is counted, with how long the other took", () => {
  const { firsts } = compare("+++---", "++----");
  assert.deepEqual(firsts, { rolecall: [100], node: [], together: 0 });
  assert.deepEqual(compare("+-----", "+++---").firsts, { rolecall: [], node: [200], together: 0 });
});

test("a change that one side takes back is a blip of that side, and no lead", () => {
  const { firsts, blips } = compare("+-++", "++++");
  assert.deepEqual(firsts, { rolecall: [], node: [], together: 0 });
  assert.deepEqual(blips, { rolecall: 0, node: 1 });
});

test("a difference counts as lasting only beyond the time a change takes to be seen", () => {
  assert.equal(compare("+++++", "+----").lasting.size, 0);
  const { lasting, differences } = compare("+++++++++", "+--------");
  assert.deepEqual([...differences], [["node 200, rolecall 503 detached", 8]]);
  assert.deepEqual([...lasting], [["node 200, rolecall 503 detached", { isOurYes: false, count: 3 }]]);
});

test("a difference from the first asking on has nobody who was first", () => {
  assert.deepEqual(compare("+++", "---").firsts, { rolecall: [], node: [], together: 0 });
});

interface Row {
  readonly line: string;
  readonly check: string | null;
  readonly refused?: "path" | "parameter";
}

const rows = JSON.parse(readFileSync("test/spec/cli/haproxy-checks.json", "utf8")) as readonly Row[];
for (const { line, check, refused } of rows) {
  test(`haproxy.cfg: ${line.trim()}`, () => {
    const [found] = readHaproxyChecks(`backend b\n${line}\n`);
    assert.equal(found?.check ?? null, check);
    if (found !== undefined) {
      assert.deepEqual([found.section, found.line], ["backend b", 2]);
      assert.equal(refusalOf(found, ["be"])?.kind, refused);
    }
  });
}
