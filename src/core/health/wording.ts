/** How documents and events word durations, lists and causes. */
import type { ClaimLoss } from "../cluster/leadership.ts";

/** How many items of a list are shown at most. */
const itemsMax = 4;

/** Returns a duration for people: `0.4 s`, `18.2 s`, `4 min 12 s`, `3 h 5 min`. @param ms in milliseconds */
export function spanText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Joins a list, mostly of node names: `pg1`, `pg1 and pg2`, `pg1, pg2, pg3, pg4 and 7 more`. */
export function listText(items: readonly string[]): string {
  const shown = items.slice(0, itemsMax);
  const last = items.length > itemsMax ? `${items.length - itemsMax} more` : shown.pop();
  return shown.length === 0 ? (last ?? "") : `${shown.join(", ")} and ${last}`;
}

/** A count with its noun: `1 node`, `3 nodes`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Describes what contradicts the claim of a node on the leader lock: member lists or the DCS. */
export function lostClaimText(node: string, { witnesses, withdrawal, refused }: ClaimLoss): string {
  if (refused !== undefined)
    return `the claim of ${node} was refused beside ${refused.beside}, and no third cluster document names it since`;
  return withdrawal === undefined
    ? `the cluster documents of ${listText(witnesses)} contradict ${node}`
    : `the DCS names ${withdrawal.namedInstead ?? "nobody"} in place of ${node}`;
}
