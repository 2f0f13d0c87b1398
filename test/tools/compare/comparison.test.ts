import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Comparison, type CheckComparison } from "../../../src/tools/compare/comparison.ts";
import { readHaproxyChecks, rejectionOf } from "../../../src/tools/compare/haproxy-file.ts";

/** Compares two sequences of verdicts, one character per sample, 100 ms apart: `+` is fit, `-` is unfit. */
function compare(node: string, rolecall: string): CheckComparison {
  const comparison = new Comparison(500);
  const answer = (verdict: string | undefined, unfit: string): { fit: boolean; answer: string } => ({
    fit: verdict === "+",
    answer: verdict === "+" ? "200" : unfit,
  });
  for (const [index, verdict] of node.split("").entries())
    comparison.add(
      { node: "pg1", check: "/replica", atMs: index * 100 },
      answer(verdict, "503"),
      answer(rolecall[index], "503 detached"),
    );
  const [row] = comparison.rows;
  assert.ok(row);
  return row;
}

test("counts agreements, and changes of both sides in the same sample", () => {
  const { samples, agreements, leads } = compare("++--++", "++--++");
  assert.deepEqual([samples, agreements, leads.together], [6, 6, 2]);
});

test("records which side follows a change first, and by how many ms", () => {
  const { leads } = compare("+++---", "++----");
  assert.deepEqual(leads, { rolecall: [100], node: [], together: 0 });
  assert.deepEqual(compare("+-----", "+++---").leads, { rolecall: [], node: [200], together: 0 });
});

test("counts a reverted change as a blip of that side, not as a lead", () => {
  const { leads, blips } = compare("+-++", "++++");
  assert.deepEqual(leads, { rolecall: [], node: [], together: 0 });
  assert.deepEqual(blips, { rolecall: 0, node: 1 });
});

test("counts a difference as lasting only after the grace period", () => {
  assert.equal(compare("+++++", "+----").lasting.size, 0);
  const { lasting, differences } = compare("+++++++++", "+--------");
  assert.deepEqual([...differences], [["node 200, rolecall 503 detached", 8]]);
  assert.deepEqual([...lasting], [["node 200, rolecall 503 detached", { isRolecallFit: false, count: 3 }]]);
});

test("records no lead if the sides differ from the first sample on", () => {
  assert.deepEqual(compare("+++", "---").leads, { rolecall: [], node: [], together: 0 });
});

interface Row {
  readonly line: string;
  readonly check: string | null;
  readonly refused?: "path" | "parameter";
}

const rows = JSON.parse(readFileSync("test/spec/cli/haproxy-checks.json", "utf8")) as readonly Row[];
for (const { line, check, refused } of rows) {
  test(`reads and validates the haproxy.cfg line: ${line.trim()}`, () => {
    const [found] = readHaproxyChecks(`backend b\n${line}\n`);
    assert.equal(found?.check ?? null, check);
    if (found !== undefined) {
      assert.deepEqual([found.section, found.line], ["backend b", 2]);
      assert.equal(rejectionOf(found, ["be"])?.kind, refused);
    }
  });
}
