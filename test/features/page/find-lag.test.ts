import assert from "node:assert/strict";
import { test } from "node:test";
import { findLag } from "../../../src/features/page/lag-api.ts";
import type { PageReadingContext } from "../../../src/core/http/diagnostics/diagnostics-sources.ts";

const rendering = { turn: { charge: () => {} }, signal: new AbortController().signal } as unknown as PageReadingContext;
const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

test("joins the lag on disk with that in memory, in steps that keep the highest", async () => {
  const found = await findLag(
    {
      recent: () => ({
        at: [2 * minuteMs, 2 * minuteMs + 5_000, 3 * minuteMs],
        nodes: { pg2: [5, 40, null], pg3: [1, 2, 3] },
      }),
      past: {
        readLag: async (cluster, steps) => {
          assert.equal(cluster, "demo");
          steps.add(minuteMs, [["pg2", 7]]);
          steps.add(2 * minuteMs, [["pg2", 20]]);
          return false;
        },
      },
    },
    { cluster: "demo", fromMs: 0, toMs: 60 * minuteMs },
    rendering,
  );
  assert.deepEqual(found, {
    step_ms: minuteMs,
    complete: false,
    at: [minuteMs, 2 * minuteMs, 3 * minuteMs],
    nodes: { pg2: [7, 40, null], pg3: [null, 2, 3] },
  });
});

for (const [days, stepMinutes] of [
  [0.5, 1],
  [1, 2],
  [7, 14],
  [366, 732],
] as const)
  test(`${days} days are answered in steps of ${stepMinutes} minutes`, async () => {
    const past = {
      readLag: async (): Promise<boolean> => true,
    };
    const recent = (): { at: readonly number[]; nodes: Record<string, never> } => ({ at: [], nodes: {} });
    const found = await findLag({ recent, past }, { cluster: "demo", fromMs: 0, toMs: days * dayMs }, rendering);
    assert.equal(found.step_ms, stepMinutes * minuteMs);
  });
