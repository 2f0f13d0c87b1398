import type { Observation } from "../cluster/observation.ts";
import type { StatusOutcome } from "../cluster/outcome.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isDamping } from "./damping.ts";
import { isOnLowerTimeline } from "./divergence.ts";
import { hasNothingToReceive } from "./attachment.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import { advancePosition, statesPosition } from "./position.ts";
import type { Settings } from "./settings.ts";
import { isConfirmed } from "./testimony.ts";
import { measure } from "./measure.ts";
import { withSample } from "./time-lag.ts";

/**
 * Takes in that a node said again what it said last, where its word is recognised (the same report), nobody disputes the lock, and the node
 * is where the leader is: then only ages change, and nothing is judged. It gives what observe.ts would give, sooner.
 * @returns `null` where the outcome has to be taken in in full
 */
export function observedAgain(part: ClusterPart, outcome: StatusOutcome, { settings, nowMs }: Context): ClusterPart | null {
  const at = part.index.get(outcome.node) ?? -1;
  const before = part.nodes[at];
  const { result, sentAtMs, sentAtWallMs } = outcome;
  if (before === undefined || "failure" in result || result.report !== before.report) return null;
  const { report, hasLock } = result;
  const leader = steadyLeader(part);
  if (leader === null || hasLock !== (leader === before) || sentAtMs < before.sentAtMs || isDamping(settings)) return null;
  // A view that does not name the leader may take its claim away, once those that it names have answered.
  if (!isConfirmed(part, leader.node.name, { settings, nowMs })) return null;
  // A claim that was broken off, or a leader that has gone silent, is another matter.
  const maxAge = maxAgeMs(part, settings);
  if (!answers(before, maxAge, nowMs) || !answers(leader, maxAge, nowMs)) return null;
  const position = advancePosition(part, { before, observation: before, holder: part.holder, nowMs }, settings);
  // The holder's sender list may accuse or clear whoever is on a lower timeline.
  if (position !== part.position || (hasLock ? isAnyLower(part) : isOnLowerTimeline(part, report))) return null;
  if (!hasLock && (report.timeline !== position?.timeline || !hasNothingToReceive({ part }, report, () => false))) return null;
  if (isUnderCount(before)) return null;
  const after: Observation = {
    ...before,
    sentAtMs,
    sentAtWallMs,
    lastHeldAtMs: hasLock ? sentAtMs : before.lastHeldAtMs,
    measured: measure(part, { before, report, isStreaming: () => false, settings, nowMs }),
    answersInRow: before.answersInRow + 1,
    countedAtMs: Math.max(sentAtMs, before.countedAtMs),
    dampedLag: null,
  };
  const positionSamples = hasLock ? withSample(part.positionSamples, position, sentAtMs) : part.positionSamples;
  return { ...part, nodes: part.nodes.with(at, after), newestAtMs: Math.max(part.newestAtMs, sentAtMs), positionSamples };
}

interface Context {
  readonly settings: Settings;
  readonly nowMs: number;
}

/** The node that holds a lock which nobody else claims, has an API of its own, and tells where it is in the WAL. */
function steadyLeader({ nodes, claims, holder, stood, incumbent, lost, leadership, scope }: ClusterPart): Observation | null {
  const [first, ...others] = claims;
  const leader = nodes[first ?? -1];
  if (leader === undefined || others.length > 0 || lost.size > 0 || scope === null) return null;
  const { node, report } = leader;
  const isSettled = stood === holder && incumbent === holder && leadership.kind === "held" && leadership.by === "sole";
  const leads = holder === node.name && isSettled && node.api !== null;
  return leads && report !== null && statesPosition(report) ? leader : null;
}

function isAnyLower(part: ClusterPart): boolean {
  return part.nodes.some(({ report }) => report !== null && isOnLowerTimeline(part, report));
}

/** Whether anything is counted against the node: then its report changes more than ages. */
function isUnderCount({ attachment }: Observation): boolean {
  const { silentMs, listedMs, lowerMs, isDetached, isStalled, isDiverged } = attachment;
  return silentMs + listedMs + lowerMs > 0 || isDetached || isStalled || isDiverged;
}

function answers(observation: Observation, maxAge: number, nowMs: number): boolean {
  return observation.failuresInRow === 0 && !observation.isDown && isFresh(observation, maxAge, nowMs);
}
