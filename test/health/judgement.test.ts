import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { tell, type Story } from "../fake/story.ts";

const room = join("test", "spec", "judgement");

for (const file of readdirSync(room)) {
  describe(`design.md, rules of judgement: ${file.replace(".yaml", "")}`, () => {
    const stories: readonly Story[] = parse(readFileSync(join(room, file), "utf8"));
    for (const story of stories) test(story.story, () => assert.deepEqual(tell(story), []));
  });
}
