import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { runScenario, type Scenario } from "../../fake/scenario.ts";

const mirrors: readonly (readonly string[])[] = [
  ["pg1", "pg3", "pg2"],
  ["pg2", "pg1", "pg3"],
  ["pg2", "pg3", "pg1"],
  ["pg3", "pg1", "pg2"],
  ["pg3", "pg2", "pg1"],
];

/** The same events with pg1, pg2 and pg3 under other names. */
function renamed(scenario: Scenario, to: readonly string[]): Scenario {
  return JSON.parse(
    JSON.stringify(scenario).replaceAll(/pg([123])/g, (_, number: string) => to[Number(number) - 1] ?? ""),
  );
}

const room = join("test", "spec", "judgement");

for (const file of readdirSync(room)) {
  describe(`design.md, rules of judgement: ${file.replace(".yaml", "")}`, () => {
    const stories: readonly Scenario[] = parse(readFileSync(join(room, file), "utf8"));
    for (const scenario of stories) {
      test(scenario.title, () => assert.deepEqual(runScenario(scenario), []));
      if (!file.includes("views") && !file.includes("dcs") && !file.includes("zones")) continue;
      // Neither the name of a node nor its position in the list may matter.
      for (const to of mirrors)
        test(`${scenario.title} (${to.join(", ")})`, () => assert.deepEqual(runScenario(renamed(scenario, to)), []));
    }
  });
}
