import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { formatLsn } from "../../cluster/values/lsn.ts";
import type { LagSample, Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { Check, WalFloor } from "../check.ts";
import { exceeds, isRefusedForLag } from "../evidence/damping.ts";
import { lagBytes } from "../evidence/measure.ts";
import { sharedUpTo } from "../evidence/shared-history.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { timeLagMs } from "../evidence/time-lag.ts";
import { fit, unfit, type Unfit, type Verdict } from "../verdict.ts";

/**
 * Whether a node has replayed enough for the limits a check asks for: `min_lsn`, `lag` and `lag_time`, all that are given. A lag
 * equal to its limit passes, as on the nodes; one that was never known is refused. Damping never softens `min_lsn`: who asks
 * to read his own writes means each single read.
 */
export function judgeLag(view: ClusterView, { observation, report }: ReportedNode, check: Check): Verdict {
  if (check.minLsn !== null && !hasReplayed(view.cluster, observation, check.minLsn)) {
    return unfit("min_lsn", report.replayed === null ? null : replayedTo(observation, check.minLsn));
  }
  if (check.lagBytesMax === null && check.lagTimeMsMax === null) return fit;
  const present = presentLag(view, observation);
  // Where one sample is enough to refuse, the present one is; its time lag has grown since the report.
  const isDamped = observation.dampedLag !== null && isRefusedForLag(observation.dampedLag, check);
  const isNow = (observation.dampedLag === null || view.policy.guards.lagSamples === 1) && exceeds(present, check);
  const isRefused = isDamped || isNow;
  return isRefused ? refusal(present, check) : fit;
}

/**
 * Whether the node has replayed what was written at a position. With a timeline that timeline has to be the node's own, or one that its
 * history left no earlier than there: after a failover that lost writes the new timeline grows past positions that it never had.
 */
function hasReplayed(cluster: ClusterState, observation: Observation, floor: WalFloor): boolean {
  const replayed = observation.report?.replayed ?? null;
  if (replayed === null || replayed < floor.position) return false;
  if (floor.timeline === null) return true;
  const timeline = timelineOf(observation);
  if (timeline === null || floor.timeline >= timeline) return floor.timeline === timeline;
  return floor.position <= (sharedUpTo(cluster, floor.timeline) ?? -1);
}

/** The timeline that a node's positions count on: its own, or the leader's where a sender list showed it streaming with this report. */
export function timelineOf({ measured, report }: Observation): number | null {
  return (measured?.heldUntilMs === null ? measured.timeline : null) ?? report?.timeline ?? null;
}

function replayedTo(observation: Observation, floor: WalFloor): string {
  const at = formatLsn(observation.report?.replayed ?? 0);
  return floor.timeline === null ? at : `${timelineOf(observation) ?? "?"}@${at}`;
}

/** A node's lag as it is now, in bytes and in time. */
export function presentLag(view: ClusterView, observation: ReportedNode["observation"]): LagSample {
  return {
    sentAtMs: observation.sentAtMs,
    bytes: lagBytes(view, observation),
    timeMs: timeLagMs(view.cluster, observation, view),
  };
}

/** The figure of the limit that is broken; where damping alone refuses, that of the limit asked for. */
function refusal({ bytes, timeMs }: LagSample, { lagBytesMax, lagTimeMsMax }: Check): Unfit {
  if ((lagBytesMax !== null && bytes === null) || (lagTimeMsMax !== null && timeMs === null))
    return unfit("lag_unknown");
  const isTime = lagTimeMsMax !== null && timeMs !== null && (lagBytesMax === null || timeMs > lagTimeMsMax);
  return unfit("lagging", isTime ? `${(timeMs / 1000).toFixed(1)}s` : formatByteSize(bytes ?? 0));
}
