import { nodeNamed } from "../../../core/cluster/lookup.ts";
import { majorVersion } from "../../../core/cluster/documents/report.ts";
import { countText } from "../../../core/health/wording.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { okLine, type PreflightLine, warningLine } from "./preflight-line.ts";

/** How many of the last switchovers count. */
const seenMax = 10;

/**
 * The longest wait of a client that was measured with 20 switchovers of each, in ms: most of it is Patroni's demotion,
 * which has two fixed waits of 1 s. Before version 4 it answers earlier.
 */
const measuredMs = { before4: 1_900, from4: 2_700 } as const;

/** How long clients will wait, in ms, and where that is from. */
export interface Forecast {
  readonly waitMs: number;
  readonly source: string;
}

/**
 * Says how long clients will wait.
 * @param heldMs how long clients were held in switchovers of this cluster that were seen, in ms, oldest first
 * @param routeWaitMs for how long balancers are waited for that rolecall cannot read, in ms; 0: there are none
 * @returns `null` if none was seen and Patroni's version is not known
 */
export function forecastOf(
  view: ClusterView,
  { heldMs, routeWaitMs }: { readonly heldMs: readonly number[]; readonly routeWaitMs: number },
): Forecast | null {
  const seen = heldMs.slice(-seenMax);
  const median = medianOf(seen);
  if (median !== null)
    return { waitMs: median, source: `median of the last ${countText(seen.length, "switchover")} here` };
  const report = nodeNamed(view.cluster, view.lock.holder)?.report ?? null;
  const major = report === null ? null : majorVersion(report);
  if (report === null || major === null) return null;
  const measured = `measured with Patroni ${major < 4 ? "3.0.2" : "4.1.4"}`;
  const more = `; balancers that check rolecall add up to ${(routeWaitMs / 1000).toFixed(1)} s`;
  return {
    waitMs: major < 4 ? measuredMs.before4 : measuredMs.from4,
    source: `${measured}${routeWaitMs === 0 ? "" : more}`,
  };
}

/** The forecast as a line. @param deadlineMs how long clients may be held at most, in ms */
export function forecastLine(forecast: Forecast | null, deadlineMs: number): PreflightLine {
  const subject = "forecast";
  if (forecast === null)
    return okLine(subject, "not known: no switchover was seen, and the leader does not state Patroni's version");
  const { waitMs, source } = forecast;
  const text = `clients will wait about ${(waitMs / 1000).toFixed(1)} s (${source})`;
  if (waitMs < deadlineMs) return okLine(subject, text);
  const late = `${text}: at the deadline of ${deadlineMs / 1000} s they go on without a primary`;
  return warningLine(subject, late, "Allow a longer deadline.");
}

/** The median, rounded; `null` of none. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2);
}
