import { countOf } from "../values/json.ts";

/** Past timeline -> the position at which the next one began. In bytes of WAL. */
export type SwitchPoints = ReadonlyMap<number, number>;

/** More timelines than a history of the longest size has. Of more rows the last, and newest, count. */
export const historyRowsMax = 16_384;

/** Parses a history document. Returns `undefined` if it is no list. Invalid rows are ignored. */
export function parseHistory(value: unknown): SwitchPoints | undefined {
  if (!Array.isArray(value)) return undefined;
  const points = new Map<number, number>();
  for (const row of value.slice(-historyRowsMax)) {
    if (!Array.isArray(row)) continue;
    const timeline = countOf(row[0]);
    const position = countOf(row[1]);
    if (timeline !== null && position !== null) points.set(timeline, position);
  }
  return points;
}
