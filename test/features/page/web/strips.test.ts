import assert from "node:assert/strict";
import { test } from "node:test";

type Segments = (
  changes: readonly object[],
  untilMs: number,
  knownMs?: number,
) => readonly { readonly kind: string; readonly toMs: number }[];

// The page is plain JavaScript, which the compiler does not read: its modules are imported by their address.
const strips = new URL("../../../../src/features/page/web/views/strips.js", import.meta.url);
const { segmentsOf } = (await import(strips.href)) as { readonly segmentsOf: Segments };

const untilMs = Date.parse("2026-11-22T12:00:00Z");

function change(at: string, primary: string, replica: string): object {
  return { at, after: { role: "replica", primary, replica }, failure: null };
}

test("verdict strips: each change lasts until the next one, and what is too old is left out", () => {
  const changes = [
    change("2026-11-22T11:00:00Z", "fit", "wrong_role"),
    change("2026-11-22T11:40:00Z", "wrong_role", "fit"),
    change("2026-11-22T11:50:00Z", "wrong_role", "detached"),
  ];
  assert.deepEqual(
    segmentsOf(changes, untilMs).map(({ kind, toMs }) => [kind, untilMs - toMs]),
    [
      ["replica", 600_000],
      ["unfit", 0],
    ],
  );
});

test("a verdict strip ends where the last message arrived", () => {
  const changes = [change("2026-11-22T11:50:00Z", "fit", "wrong_role")];
  const ends = (knownMs: number): number[] => segmentsOf(changes, untilMs, knownMs).map(({ toMs }) => untilMs - toMs);
  assert.deepEqual(ends(untilMs), [0]);
  assert.deepEqual(ends(untilMs - 60_000), [60_000]);
  assert.deepEqual(ends(untilMs - 900_000), [600_000]);
});
