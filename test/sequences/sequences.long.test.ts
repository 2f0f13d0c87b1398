import assert from "node:assert/strict";
import { test } from "node:test";
import { readSequences, reversed } from "./format.ts";
import { VirtualPlayer } from "./virtual/player.ts";

/**
 * `SEQUENCES` selects by name, and `SEEDS` is the number of seeds: each has other instants of probes. Even seeds have
 * the nodes in the other order.
 */
const only = new RegExp(process.env["SEQUENCES"] ?? "");
const seeds = Number(process.env["SEEDS"] ?? 2);

for (const sequence of readSequences().filter(({ name }) => only.test(name))) {
  test(`${sequence.title} [${sequence.name}]`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const faults = await new VirtualPlayer(seed % 2 === 1 ? sequence : reversed(sequence), seed).play();
      assert.ok(faults.length === 0, `${sequence.truth} (seed ${seed})\n  ${faults.join("\n  ")}`);
    }
  });
}
