import assert from "node:assert/strict";
import { test } from "node:test";
import {
  eventTableHead,
  eventTableRows,
  layoutOf,
  type PrintedEvent,
} from "../../../../src/features/history/cli/event-table.ts";
import { styleFor } from "../../../../src/core/command/output/style.ts";

const style = styleFor("never", false, {});
const atMs = new Date(2026, 10, 21, 3, 12, 7).getTime();
const base = {
  id: "a.1",
  atMs,
  kind: "primary_found",
  severity: "info",
  cluster: "demo",
  cause: null,
  figures: {},
} as const;
const events: readonly PrintedEvent[] = [
  { ...base, node: "pg2", message: "pg2 is the new primary of demo after 22.0 s without one (was pg1)" },
  { ...base, severity: "error", node: null, message: "a\u001b[2Jb" },
];

function render(columns: number): readonly string[] {
  const layout = layoutOf(events, columns);
  const head = eventTableHead(layout, atMs, style).replace(/\(UTC.*?\) */, "(zone)");
  return (head + eventTableRows(events, layout, style)).trimEnd().split("\n");
}

test("a wide terminal shows sentences beside the other columns, wrapped between words", () => {
  assert.deepEqual(render(200), [
    "TIME (zone)SEVERITY  CLUSTER  NODE  EVENT",
    "2026-11-21 03:12:07  info      demo     pg2   pg2 is the new primary of demo after 22.0 s without one (was pg1)",
    "2026-11-21 03:12:07  error     demo     -     a?[2Jb",
  ]);
  assert.deepEqual(render(80).slice(1, 3), [
    "2026-11-21 03:12:07  info      demo     pg2   pg2 is the new primary of demo",
    "                                              after 22.0 s without one (was pg1)",
  ]);
});

test("a narrow terminal shows them below", () => {
  assert.deepEqual(render(60), [
    "TIME (zone)SEVERITY  CLUSTER  NODE",
    "2026-11-21 03:12:07  info      demo     pg2",
    "  pg2 is the new primary of demo after 22.0 s without one",
    "  (was pg1)",
    "2026-11-21 03:12:07  error     demo     -",
    "  a?[2Jb",
  ]);
  for (const columns of [60, 70, 80, 120]) {
    const words = render(columns).join(" ").split(/ +/);
    assert.ok(words.includes("without") && words.includes("primary"), "no word is broken");
    assert.ok(render(columns).every((line) => line.length <= columns));
  }
});
