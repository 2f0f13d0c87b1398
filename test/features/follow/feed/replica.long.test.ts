import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { AdoptingFixture } from "../../../fake/adopting-fixture.ts";
import { FedFixture } from "../../../fake/fed-fixture.ts";
import { runScenario, type Scenario } from "../../../fake/scenario.ts";

const room = join("test", "spec", "judgement");

for (const file of readdirSync(room)) {
  describe(`a follower judges as its owner: ${file.replace(".yaml", "")}`, () => {
    const stories: readonly Scenario[] = parse(readFileSync(join(room, file), "utf8"));
    for (const scenario of stories) {
      test(`by its outcomes: ${scenario.title}`, () =>
        assert.deepEqual(
          runScenario(scenario, (options) => new FedFixture(options, 1_234_567)),
          [],
        ));
      test(`by its state: ${scenario.title}`, () =>
        assert.deepEqual(
          runScenario(scenario, (options) => new AdoptingFixture(options)),
          [],
        ));
    }
  });
}
