/** The samples of canaries at a scrape. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { canaryMetrics } from "../../../src/features/canary/canary-metrics.ts";
import type { CanaryState, KnownCanary } from "../../../src/features/canary/core/canary.ts";
import type { RunningCanaries } from "../../../src/features/canary/open-canaries.ts";

const server = { address: "10.0.0.2", port: 5432, isInRecovery: false, system: "7" };
const tried = { triedAtMs: 98_000, tookMs: 4, node: "pg2", server };
const passed = { ...tried, phase: "passed", ageMs: 1_500 } as const;
const failed = (code: string): CanaryState => ({
  ...tried,
  phase: "failed",
  error: { code, message: "x" },
  failingSinceMs: 90_000,
  tries: 2,
});

/** Each metric without its prefix, and its only sample; `-`: it has none. At 100 s; 1,000 s since the epoch. */
function samplesOf(parts: Partial<KnownCanary>): readonly string[] {
  const canary: KnownCanary = {
    cluster: "demo",
    pool: "w",
    target: "lb:5000/app",
    user: "canary",
    kind: "write",
    intervalMs: 5_000,
    isOneOfSeveral: false,
    state: passed,
    passedAtMs: null,
    ...parts,
  };
  const running: RunningCanaries = {
    configure: () => {},
    known: () => [canary],
    instant: () => ({ nowMs: 100_000, wallMs: 1_000_000 }),
  };
  return canaryMetrics.map(({ name, read }) => {
    const samples = read(running);
    assert.ok(samples !== null && typeof samples !== "number");
    const [first, ...others] = samples;
    assert.deepEqual(others, []);
    if (first === undefined) return `${name.slice("rolecall_canary_".length)} -`;
    assert.deepEqual(first[0], { cluster: "demo", pool: "w", target: "lb:5000/app", kind: canary.kind });
    return `${name.slice("rolecall_canary_".length)} ${first[1]}`;
  });
}

const rows: readonly (readonly [what: string, canary: Partial<KnownCanary>, samples: string])[] = [
  ["not tried yet: nothing", { state: { phase: "pending" } }, "up - unfit - astray - success - age -"],
  ["passed", { passedAtMs: 98_000 }, "up 1 unfit 0 astray 0 success 998 age 1.5"],
  [
    "a write has no age",
    { state: { ...passed, ageMs: null }, passedAtMs: 98_000 },
    "up 1 unfit 0 astray 0 success 998 age -",
  ],
  [
    "failed after one that passed",
    { state: failed("53300"), passedAtMs: 40_000 },
    "up 0 unfit 0 astray 0 success 940 age -",
  ],
  ["failed, and none has ever passed", { state: failed("53300") }, "up 0 unfit 0 astray 0 success - age -"],
  ["another database", { state: failed("other_database") }, "up 0 unfit 0 astray 1 success - age -"],
  [
    "its own table is missing: clients may be served",
    { state: failed("42P01") },
    "up - unfit 1 astray 0 success - age -",
  ],
  [
    "no try that says something for more than four intervals",
    { state: { ...passed, triedAtMs: 79_999 }, passedAtMs: 79_999 },
    "up - unfit - astray - success 979.999 age -",
  ],
  [
    "a try just four intervals ago",
    { state: { ...passed, triedAtMs: 80_000 } },
    "up 1 unfit 0 astray 0 success - age 1.5",
  ],
];

suite("metrics of canaries", () => {
  for (const [what, canary, samples] of rows)
    test(what, () => {
      const words = samplesOf(canary).join(" ");
      assert.equal(words.replace("success_timestamp_seconds", "success").replace("row_age_seconds", "age"), samples);
    });

  test("have no sample while the feature is not open", () => {
    for (const { read } of canaryMetrics) assert.deepEqual(read(null), []);
  });
});
