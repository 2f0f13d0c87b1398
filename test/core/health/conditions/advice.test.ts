/** Every advice that is given has a row in test/spec/advice.yaml: what follows if a database still takes writes. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";

interface Row {
  readonly do: string;
  readonly if_it_still_writes: string;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/advice.yaml", "utf8"));
const folder = "test/spec/conditions";
const given = readdirSync(folder).flatMap((file) => {
  const scenarios: readonly { readonly do?: string }[] = parse(readFileSync(join(folder, file), "utf8"));
  return scenarios.flatMap((scenario) => scenario.do ?? []);
});

/** The advice with placeholders in place of what differs from case to case. */
function shapeOf(advice: string): string {
  return advice
    .replace(/`rolecall explain [^`]*`/, "`rolecall explain {check}`")
    .replaceAll(/\bpg\d\b/g, "{node}")
    .replace(/\d\d:\d\d:\d\d/, "{time}");
}

test("each advice has a row, and each row is given", () => {
  const shapes = new Set(given.map(shapeOf));
  assert.ok(shapes.size > 15);
  assert.deepEqual(new Set(rows.map((row) => row.do)), shapes);
});

test("no advice hides a node, or copies over data before it is saved", () => {
  for (const { do: advice, if_it_still_writes: outcome } of rows) {
    assert.ok(outcome.length > 10, advice);
    // What ends a distrust hides nothing.
    assert.doesNotMatch(advice.replaceAll("--distrust --end", ""), /reload rolecall|forget|remove it|distrust/i);
    if (/reinitialize|copy it anew/i.test(advice)) assert.match(advice, /^(?:Save|Stop).*\b(?:save|alone)\b/i);
  }
});
