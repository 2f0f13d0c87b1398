import type { Observation } from "../cluster/observation.ts";
import type { Report } from "../cluster/report.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isBlind, maxAgeMs } from "./freshness.ts";
import { standingAt, type Standing } from "./leader.ts";
import type { Settings } from "./settings.ts";

/** One cluster at one instant, as every verdict of one check sees it: so a pool never has two primaries. */
export interface Sight {
  readonly part: ClusterPart;
  readonly settings: Settings;
  readonly nowMs: number;
  readonly maxAgeMs: number;
  readonly standing: Standing;
  readonly isBlind: boolean;
}

/** A node with a report that may be believed. */
export interface Witness {
  readonly observation: Observation;
  readonly report: Report;
}

/** Looks at a cluster's part at an instant of our clock, in milliseconds. Who holds the lock is settled when an outcome is recorded. */
export function look(part: ClusterPart, settings: Settings, nowMs: number): Sight {
  return lookUpon(part, standingAt(part, settings, nowMs), { settings, nowMs });
}

/** The same where it was just settled who holds the lock. */
export function lookUpon(
  part: ClusterPart,
  settled: Standing,
  { settings, nowMs }: { readonly settings: Settings; readonly nowMs: number },
): Sight {
  return { part, settings, nowMs, maxAgeMs: maxAgeMs(part, settings), standing: settled, isBlind: isBlind(part, settings, nowMs) };
}
