import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, LeaderPosition } from "../cluster/snapshot.ts";
import { nextAttachment, withCountsAnew } from "./attachment.ts";
import { isDamping, withLagSample } from "./damping.ts";
import { isOnLowerTimeline } from "./divergence.ts";
import type { Standing } from "./leader.ts";
import { lagBytes, measure } from "./measure.ts";
import { lookUpon } from "./sight.ts";
import type { Settings } from "./settings.ts";
import { isListedStreaming } from "./stream.ts";
import { timeLagMs } from "./time-lag.ts";

/**
 * Notes on an observation what its report shows against the rest of the cluster: how it measures against the leader's position (rule 4),
 * what signs of attachment it gives (rules 5 and 6), and its lag where damping will want to remember it.
 * @param pair what was known of the node when the report came, and what is with it
 * @param context by what it is judged, when, and who holds the lock with the report
 */
export function withBearings(
  part: ClusterPart,
  pair: { readonly before: Observation; readonly after: Observation },
  context: { readonly settings: Settings; readonly nowMs: number; readonly settled: Standing },
): Observation {
  const { before, after } = pair;
  const { report, sentAtMs, node } = after;
  if (report === null) return after;
  const sight = lookUpon(part, context.settled, context);
  const measured = measure(part, { before, report, isStreaming: () => isListedStreaming(sight, node.name), ...context });
  const attachment = nextAttachment(sight, pair);
  const seen = { ...after, measured, attachment, countedAtMs: Math.max(sentAtMs, before.countedAtMs) };
  return { ...seen, dampedLag: dampedLagOf(part, seen, context) };
}

/**
 * Measures again whoever the sender list that just came shows streaming while its last report states a lower timeline (design.md, rule 4):
 * until its next report the list is the only word of where it is. Its report is older than the list, so what counts is the position that
 * was known before, where that was one of the leader's timeline.
 * @param part the part with the list
 * @param lister the node whose report brought the list
 * @param known the leader's position before that report
 */
export function withListedMeasured(
  part: ClusterPart,
  { lister, known }: { readonly lister: Observation; readonly known: LeaderPosition | null },
  context: { readonly settings: Settings; readonly nowMs: number; readonly settled: Standing },
): ClusterPart {
  const { position } = part;
  if (position === null || lister.report === null || lister.report.senders.length === 0) return part;
  const sight = lookUpon(part, context.settled, context);
  const highest =
    known !== null && known.timeline === position.timeline && known.system === position.system ? known.highest : position.highest;
  const then: ClusterPart = { ...part, position: { ...position, highest } };
  let { nodes } = part;
  for (const [at, before] of part.nodes.entries()) {
    const { report, node } = before;
    if (report === null || !isOpen(part, before) || !isListedStreaming(sight, node.name)) continue;
    nodes = nodes.with(at, { ...before, measured: measure(then, { before, report, isStreaming: () => true, ...context }) });
  }
  return nodes === part.nodes ? part : { ...part, nodes };
}

/** Whether a replica's last report is on a lower timeline, and was not measured as on the leader's. */
function isOpen(part: ClusterPart, { report, measured, attachment }: Observation): boolean {
  if (report === null || report.role === "primary" || attachment.isDiverged || !isOnLowerTimeline(part, report)) return false;
  return measured?.timeline !== part.position?.timeline;
}

/** A change of leader or timeline gives every replica that is not accused its whole window anew. */
export function withWindowsAnew(part: ClusterPart, nowMs: number): ClusterPart {
  return { ...part, nodes: part.nodes.map((node) => withCountsAnew(node, nowMs)) };
}

function dampedLagOf(
  part: ClusterPart,
  after: Observation,
  context: { readonly settings: Settings; readonly nowMs: number },
): Observation["dampedLag"] {
  if (!isDamping(context.settings)) return null;
  const sample = {
    sentAtMs: after.sentAtMs,
    bytes: lagBytes({ part, nowMs: context.nowMs }, after),
    timeMs: timeLagMs(part, after, context),
  };
  return withLagSample(after.dampedLag, sample, context.settings);
}
