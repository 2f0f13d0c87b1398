import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { freshLeader, givesSign } from "./stream.ts";
import { isDamping, withLagSample } from "./damping.ts";
import { isOnLowerTimeline } from "./divergence.ts";
import type { Standing } from "./leader.ts";
import { lagBytes } from "./position.ts";
import { lookUpon } from "./sight.ts";
import type { Settings } from "./settings.ts";
import { timeLagMs } from "./time-lag.ts";

/**
 * Notes on an observation what its report shows against the rest of the cluster: a sign of attachment (rule 5), a timeline
 * that is not the leader's (rule 6), and its lag where damping will want to remember it.
 * @param pair what was known of the node when the report came, and what is with it
 * @param context by what it is judged, when, and who holds the lock with the report
 */
export function withBearings(
  part: ClusterPart,
  pair: { readonly before: Observation; readonly after: Observation },
  context: { readonly settings: Settings; readonly nowMs: number; readonly settled: Standing },
): Observation {
  const { before, after } = pair;
  const { report, sentAtMs } = after;
  if (report === null) return after;
  const sight = lookUpon(part, context.settled, context);
  const hasLeader = freshLeader(sight) !== null;
  // The count begins with the node's first report, and anew wherever there is no leader to be attached to.
  const isCounting = hasLeader && before.report !== null && !givesSign(sight, before, report);
  const isLower = hasLeader && isOnLowerTimeline(part, report);
  return {
    ...after,
    attachedAtMs: isCounting ? before.attachedAtMs : sentAtMs,
    lowerTimelineSinceMs: isLower ? (before.lowerTimelineSinceMs ?? sentAtMs) : null,
    dampedLag: dampedLagOf(part, after, context),
  };
}

/** A change of leader or timeline gives every replica its whole window anew. */
export function withWindowsAnew(part: ClusterPart, nowMs: number): ClusterPart {
  const nodes = part.nodes.map((node) => ({
    ...node,
    attachedAtMs: nowMs,
    lowerTimelineSinceMs: node.lowerTimelineSinceMs === null ? null : nowMs,
  }));
  return { ...part, nodes };
}

function dampedLagOf(
  part: ClusterPart,
  after: Observation,
  context: { readonly settings: Settings; readonly nowMs: number },
): Observation["dampedLag"] {
  if (!isDamping(context.settings)) return null;
  const sample = { sentAtMs: after.sentAtMs, bytes: lagBytes(part, after), timeMs: timeLagMs(part, after, context) };
  return withLagSample(after.dampedLag, sample, context.settings);
}
