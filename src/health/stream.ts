import type { Observation } from "../cluster/observation.ts";
import type { Report, Sender } from "../cluster/report.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isFresh } from "./freshness.ts";
import { statesPosition } from "./position.ts";
import { isSet } from "../cluster/tags.ts";
import type { Sight } from "./sight.ts";

/**
 * Whether a report gives any sign that its replica is attached to the leader's stream (design.md, rule 5): there is nothing to receive, what
 * it has received moved, or a chain of sender lists leads to it, which is the dearest to find.
 * @param before what was known of the node when its report came
 */
export function givesSign(sight: Sight, before: Observation, report: Report): boolean {
  return hasNothingToReceive(sight.part, report) || hasMoved(before, report) || isListed(sight, before.node.name);
}

/** Whether a report has reached the leader's position. */
export function hasNothingToReceive(part: ClusterPart, report: Report): boolean {
  const reached = reachedBy(report);
  return reached !== null && reached >= (part.position?.highest ?? Infinity);
}

function hasMoved(before: Observation, report: Report): boolean {
  const reached = reachedBy(report);
  return reached !== null && reached !== (before.report === null ? null : reachedBy(before.report));
}

/** The leader's report, where a fresh one with positions exists: without it nobody is accused. */
export function freshLeader(sight: Sight): Observation | null {
  const { holder } = sight.standing;
  const leader = holder === null ? undefined : sight.part.nodes[sight.part.index.get(holder) ?? -1];
  if (leader === undefined || leader.report === null) return null;
  return statesPosition(leader.report) ? leader : null;
}

/**
 * Since when the node has shown no sign of attachment, in ms of our clock; `null` when it is not to be accused: it shows
 * one, has no leader to be attached to, or is exempt.
 */
export function silentSinceMs(sight: Sight, observation: Observation): number | null {
  const { report, node } = observation;
  if (report === null || node.isArchiveFed || isSet(report.tags, "nostream") || freshLeader(sight) === null) return null;
  return observation.sentAtMs > observation.attachedAtMs ? observation.attachedAtMs : null;
}

/** Whether a chain of fresh sender lists leads from the leader to the node: replicas may feed replicas. */
export function isListed(sight: Sight, name: string): boolean {
  const { holder } = sight.standing;
  if (holder === null) return false;
  const reached = new Set([holder]);
  const open = [holder];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    const feeder = sight.part.nodes[sight.part.index.get(from) ?? -1];
    if (feeder === undefined || feeder.report === null || !isFresh(feeder, sight.maxAgeMs, sight.nowMs)) continue;
    for (const sender of feeder.report.senders) {
      const fed = nodeFedBy(sight.part, sender);
      if (fed === null || reached.has(fed)) continue;
      if (fed === name) return true;
      reached.add(fed);
      open.push(fed);
    }
  }
  return false;
}

/** What the node has of the WAL, wherever from. */
export function reachedBy({ received, replayed }: Report): number | null {
  return received === null && replayed === null ? null : Math.max(received ?? 0, replayed ?? 0);
}

/** The known node that a row of a sender list is: by name, unless it comes from another known node's address. */
function nodeFedBy(part: ClusterPart, { name, address, state }: Sender): string | null {
  if (state !== "streaming" && state !== "catchup") return null;
  const fed = part.nodes.find(({ node }) => node.member === name || node.name === name)?.node;
  if (fed === undefined) return null;
  const isElsewhere = address !== null && fed.database !== null && fed.database.host !== address;
  return isElsewhere && part.nodes.some(({ node }) => node !== fed && node.database?.host === address) ? null : fed.name;
}
