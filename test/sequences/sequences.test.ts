import assert from "node:assert/strict";
import { test } from "node:test";
import { readSequences } from "./format.ts";
import { Stage } from "./stage.ts";

/** All sequences run at the same time, each as a cluster of its own, in both orders of its list. `SEQUENCES` selects by name. */
const only = new RegExp(process.env["SEQUENCES"] ?? "");
const sequences = readSequences().filter(({ name }) => only.test(name));

for (const workers of [0, 2]) {
  test(`the answers are right under every directed sequence with ${workers} workers`, { timeout: 170_000 }, async (context) => {
    const [stage, all] = await Stage.open(context, sequences, { workers });
    const tests = all.map((played) => {
      const { name, title, truth } = played.sequence;
      const playing = stage.play(played);
      return context.test(`${title} [${name}, ${workers} workers]`, async () => {
        const faults = await playing;
        assert.ok(faults.length === 0, `${truth}\n  ${faults.join("\n  ")}`);
      });
    });
    await Promise.all(tests);
  });
}
