import { countOf } from "../values/json.ts";

/** Where each past timeline ended: timeline -> the position at which the next one began (seeds/node-api.md, "History document"). */
export type SwitchPoints = ReadonlyMap<number, number>;

/** Reads a history document; `undefined` when it is no list. Rows that are not understood are left out. */
export function parseHistory(value: unknown): SwitchPoints | undefined {
  if (!Array.isArray(value)) return undefined;
  const points = new Map<number, number>();
  for (const row of value) {
    if (!Array.isArray(row)) continue;
    const timeline = countOf(row[0]);
    const position = countOf(row[1]);
    if (timeline !== null && position !== null) points.set(timeline, position);
  }
  return points;
}
