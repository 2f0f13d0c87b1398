import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readSequences, reversed } from "./format.ts";
import { SequenceRunner } from "./sequence-runner.ts";

/**
 * Some sequences again, over real connections and in real time: `sequences.test.ts` runs all of them on virtual time.
 * All run at the same time, each as a cluster of its own.
 */
const sequences = readSequences().filter(({ wire }) => wire === true);

const runs = [
  { workers: 0, clusters: sequences },
  { workers: 2, clusters: sequences.map(reversed) },
];

describe("directed sequences over real connections", { concurrency: true }, () => {
  for (const { workers, clusters } of runs)
    test(`the answers are right with ${workers} workers`, { timeout: 170_000 }, async (context) => {
      const [stage, all] = await SequenceRunner.open(context, clusters, { workers });
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
});
