import type { Report } from "../../../cluster/documents/report.ts";

/** Whether the report has a WAL position. A node whose query of its PostgreSQL failed reports none. */
export function hasPosition({ location, received, replayed }: Report): boolean {
  return location !== null || received !== null || replayed !== null;
}

/** Returns the position up to which the node has WAL, received or replayed, in bytes; `null` if it reports none. */
export function walReached({ received, replayed }: Pick<Report, "received" | "replayed">): number | null {
  return received === null && replayed === null ? null : Math.max(received ?? 0, replayed ?? 0);
}

/**
 * Returns the position up to which a leader has WAL for its replicas, in bytes; `null` if its report has none. A
 * standby leader writes no WAL of its own: for it, that is what it received or replayed.
 */
export function leaderPositionIn(report: Report): number | null {
  return report.location ?? walReached(report);
}

/**
 * Whether the report of a lock holder has another role than `replica`: it is a primary or a standby leader. While
 * its role is `replica`, the holder may still receive WAL, so its position may be lower than the last leader's.
 */
export function isPromoted({ role }: Pick<Report, "role">): boolean {
  return role !== "replica";
}

/** Whether the report of a lock holder states the leader's position. */
export function statesPosition(report: Report): boolean {
  return isPromoted(report) && hasPosition(report);
}
