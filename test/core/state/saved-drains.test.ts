import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { drainsToJson, parseDrains, remainingOf } from "../../../src/core/state/saved-drains.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const begunWallMs = Date.parse("2026-07-01T10:00:00.000Z");
const hourMs = 3_600_000;
const boot = { id: "boot-1", offsetMs: 500_000 };

/** A drain of 60 s that began at 1 s of rolecall's clock, as the file has it. */
function saved(): readonly object[] {
  const watched = new ClusterFixture();
  const since = new Date(begunWallMs).toISOString();
  const until = new Date(begunWallMs + 60_000).toISOString();
  const drain = { reason: "upgrade", by: null, extent: "replica", untilMs: 61_000, since, until } as const;
  const cluster = watched.record({ kind: "drain", cluster: "demo", node: "pg2", drain }, 1_000);
  return drainsToJson({ instance: "", sequence: 0, clusters: [cluster], index: new Map() }, boot);
}

suite("a drain over a restart", () => {
  // The next process starts 20 s after the drain began, 19 s of them on the boot clock of the machine before it.
  const sameBoot = { id: "boot-1", offsetMs: 521_000 };
  const otherBoot = { id: "boot-2", offsetMs: 5_000 };
  const rows: readonly (readonly [given: string, boot: typeof boot, wallMs: number, remainingMs: number])[] = [
    ["on the same boot", sameBoot, begunWallMs + 20_000, 40_000],
    ["on the same boot, with a clock 10 h back", sameBoot, begunWallMs - 10 * hourMs, 40_000],
    ["on the same boot, with a clock 10 h ahead", sameBoot, begunWallMs + 10 * hourMs, 40_000],
    ["on another boot, by the wall clock", otherBoot, begunWallMs + 20_000, 40_000],
    ["on another boot, with a clock 10 h back, for its whole length", otherBoot, begunWallMs - 10 * hourMs, 60_000],
    ["on another boot, after its end", otherBoot, begunWallMs + 10 * hourMs, 60_000 - 10 * hourMs],
  ];
  for (const [given, present, wallMs, remainingMs] of rows)
    test(`${given} it lasts ${remainingMs} ms`, () => {
      const [drain] = parseDrains(saved(), present);
      assert.ok(drain !== undefined);
      assert.equal(remainingOf(drain, { nowMs: 0, wallMs }), remainingMs);
    });

  test("of a file without boot clocks, or where the boot is unknown, the wall clock decides", () => {
    for (const [section, present] of [
      [saved().map((one) => ({ ...one, boot: undefined })), boot],
      [saved(), { id: null, offsetMs: 0 }],
    ] as const) {
      const [drain] = parseDrains(section, present);
      assert.equal(drain?.untilMs, null);
    }
  });

  test("an end on the boot clock never makes it longer than it was begun for", () => {
    const damaged = saved().map((one) => ({ ...one, until_boot_ms: 10 * hourMs }));
    const [drain] = parseDrains(damaged, sameBoot);
    assert.ok(drain !== undefined);
    assert.equal(remainingOf(drain, { nowMs: 0, wallMs: begunWallMs }), 60_000);
  });
});
