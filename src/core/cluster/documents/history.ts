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
    const [timeline, position] = switchIn(row);
    if (timeline !== null && position !== null) points.set(timeline, position);
  }
  return points;
}

/** Whether each row of a history can be read. What a row that cannot be read has said before is still true. */
export function isWholeHistory(value: unknown): boolean {
  return Array.isArray(value) && value.slice(-historyRowsMax).every((row) => !switchIn(row).includes(null));
}

function switchIn(row: unknown): readonly [timeline: number | null, position: number | null] {
  return Array.isArray(row) ? [countOf(row[0]), countOf(row[1])] : [null, null];
}
