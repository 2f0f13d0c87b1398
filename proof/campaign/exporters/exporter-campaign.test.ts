import assert from "node:assert/strict";
import { test } from "node:test";
import { type AppliedNames, brokenPromises } from "./exporter-campaign.ts";

// `EXPORTER_SEEDS=1..20000` runs others.
const [first = 1, last = 150] = (process.env["EXPORTER_SEEDS"] ?? "1..150").split("..").map(Number);

test(`exporters alone: no yes beyond the truth, one primary, and no healthy replica refused for ever (seeds ${first} to ${last})`, () => {
  const broken: string[] = [];
  const applied: AppliedNames = new Map();
  for (let seed = first; seed <= last && broken.length < 20; seed += 1)
    broken.push(...brokenPromises(seed, applied).slice(0, 3));
  assert.deepEqual(broken, []);
  for (const names of ["node", "receiver", "own"]) assert.ok((applied.get(names) ?? 0) > 0, `${names}: it applied`);
});
