import assert from "node:assert/strict";
import { test } from "node:test";
import { readSequences } from "./format.js";
import { reversed, SequenceRunner } from "./sequence-runner.js";
/** All sequences run at the same time, each as a cluster of its own. `SEQUENCES` selects by name. */
const only = new RegExp(process.env["SEQUENCES"] ?? "");
const sequences = readSequences().filter(({ name }) => only.test(name));
const runs = [
    { workers: 0, sequences: sequences.flatMap((sequence) => [sequence, reversed(sequence)]) },
    // Workers judge by the same rules as the first process: every other sequence in the other order is enough, and half
    // the load.
    { workers: 2, sequences: sequences.map((sequence, at) => (at % 2 === 0 ? sequence : reversed(sequence))) },
];
for (const { workers, sequences: clusters } of runs) {
    test(`the answers are right under every directed sequence with ${workers} workers`, { timeout: 170_000 }, async (context) => {
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
}
//# sourceMappingURL=sequences.test.js.map