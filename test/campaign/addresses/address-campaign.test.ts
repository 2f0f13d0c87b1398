import assert from "node:assert/strict";
import { test } from "node:test";
import { addressRun } from "./address-campaign.ts";

// `ADDRESS_SEEDS=1..20000` runs others.
const [first = 1, last = 12] = (process.env["ADDRESS_SEEDS"] ?? "1..12").split("..").map(Number);

test(`start addresses: no other server's evidence, and every member is found (seeds ${first} to ${last})`, async () => {
  const armed = new Map<string, number>();
  const broken: string[] = [];
  for (let seed = first; seed <= last && broken.length < 20; seed += 1) {
    const { violations, atMs } = await addressRun(seed, { armed });
    for (const { rule, node, detail } of violations.slice(0, 2))
      broken.push(`seed ${seed}, ${atMs} ms: ${rule} ${node ?? ""}: ${detail}`);
  }
  assert.deepEqual(broken, []);
  for (const rule of ["own-evidence", "true-address", "kept-address", "asked-only"])
    assert.ok((armed.get(rule) ?? 0) > 0, `${rule} applied`);
});
