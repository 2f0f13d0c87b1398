import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { headlineOf, situationLines } from "../../../../src/core/health/documents/situation.ts";
import { played, type Scenario } from "../../../fake/scenario.ts";
import { situationAt } from "../../../fake/situations.ts";

interface Row extends Scenario {
  /** In seconds. */
  readonly at: number;
  readonly condition: string;
  readonly lines: readonly string[];
}

suite("the five lines of a situation", () => {
  for (const { at, condition, lines, ...scenario } of parse(
    readFileSync("test/spec/health/situations.yaml", "utf8"),
  ) as readonly Row[])
    test(scenario.title, () => {
      const situation = situationAt(played(scenario), at * 1_000);
      const expected = { condition, lines };
      assert.deepEqual({ condition: situation.condition, lines: situationLines(situation) }, expected);
    });
});

test("the headline of a cluster that is well", () => {
  assert.equal(headlineOf({ wrong: null, cause: null, for_ms: null }), "ok");
});
