/** The guard: bounds of its own, wider than what is promised, and loud where one is missed. */
import { show } from "./figure.ts";
import type { Bound, Row } from "./row.ts";
import { isReached, showBound } from "./table.ts";

/** The bounds of bench/guard.json: a row's name, and what its figure is held to. */
export type Bounds = Readonly<Record<string, NonNullable<Bound>>>;

/**
 * The rows that are guarded, with the guard's bounds.
 * @throws Error when a bound names no row: the guard would sleep
 */
export function underGuard(rows: readonly Row[], bounds: Bounds): readonly Row[] {
  const broken = rows.filter((row) => "broken" in row);
  const named = Object.entries(bounds).flatMap(([name, bound]) => {
    const row = rows.find(
      (candidate) => candidate.name === name || ("notRun" in candidate && name.startsWith(candidate.name)),
    );
    if (row !== undefined) return ["figure" in row ? { ...row, bound } : { ...row, name }];
    // What broke made no rows at all; it is told for itself.
    if (broken.length > 0) return [];
    throw new Error(`Cannot guard "${name}" as bench/guard.json must name rows: there is none of this name`);
  });
  return [...named, ...broken];
}

/** What the guard has against these rows, a line each: missed bounds, broken rows, and that nothing was measured at all. */
export function complaints(guarded: readonly Row[]): readonly string[] {
  if (guarded.every((row) => "notRun" in row)) return ["Cannot guard as at least one row must be measured: none was"];
  return guarded.filter((row) => !isReached(row)).map(complaint);
}

function complaint(row: Row): string {
  if ("figure" in row)
    return `Cannot pass the guard as "${row.name}" must be ${showBound(row.bound)}: it is ${show(row.figure)} (${row.detail})`;
  return `Cannot pass the guard as "${row.name}" must be measured: ${"broken" in row ? row.broken : row.notRun}`;
}
