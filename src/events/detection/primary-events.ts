import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterFacts, PrimaryFacts } from "./cluster-facts.ts";
import { failureText, listText, lostClaimText, spanText, type EventFigures } from "./event-text.ts";
import type { EventDraft } from "../cluster-event.ts";

/** What is remembered of a cluster's primary. */
export interface PrimaryMemory {
  /** The last primary; `null` before the first one. */
  last: Pick<PrimaryFacts, "node" | "isStandbyLeader" | "timeline" | "system"> | null;
  /** Since when there is none, in ms of rolecall's clock; `null` while there is one. */
  lostSinceMs: number | null;
  /** Whether that was reported. */
  isLossReported: boolean;
  /** Whether the cluster could not be seen since the last primary was. */
  wasHidden: boolean;
  /** The report with a lower timeline that waits for a second one, by when its probe was sent; `null` if none does. */
  lowerAtMs: number | null;
}

/** Before a cluster's first primary. */
export function noPrimaryYet(): PrimaryMemory {
  return { last: null, lostSinceMs: null, isLossReported: false, wasHidden: false, lowerAtMs: null };
}

/**
 * Finds that a cluster lost its primary or has a new one, and that its timeline went back. Updates the memory. While
 * the cluster cannot be seen nothing is decided.
 */
export function primaryEvents(memory: PrimaryMemory, facts: ClusterFacts): readonly EventDraft[] {
  if (facts.visibility !== "clear") {
    memory.wasHidden = true;
    return [];
  }
  const { primary } = facts;
  if (primary === null) {
    memory.lostSinceMs ??= facts.nowMs;
    if (memory.isLossReported || !isLossSure(memory, facts, memory.lostSinceMs)) return [];
    memory.isLossReported = true;
    return [lost(memory, facts)];
  }
  const { last, isLossReported } = memory;
  const isNew = isLossReported || (last !== null && last.node !== primary.node);
  const events = [...(isNew ? [found(memory, facts, primary)] : []), ...timelineBack(memory, facts, primary)];
  memory.lostSinceMs = null;
  memory.isLossReported = false;
  memory.wasHidden = false;
  return events;
}

/**
 * Whether no node can have the lock that was not probed since the loss. The nodes are probed in turn: a switchover is
 * often seen on the old primary first.
 */
function isLossSure({ last }: PrimaryMemory, { nodes, view, nowMs }: ClusterFacts, sinceMs: number): boolean {
  const { intervalMs, timeoutMs } = view.policy;
  return (
    nowMs - sinceMs >= intervalMs + timeoutMs ||
    nodes.every(
      ({ node, isDown, observation: { sentAtMs, failedAtMs } }) =>
        isDown || node === last?.node || Math.max(sentAtMs, failedAtMs) >= sinceMs,
    )
  );
}

function lost({ last }: PrimaryMemory, facts: ClusterFacts): EventDraft {
  const { cluster, nowMs } = facts;
  const cause = lossCause(facts, last?.node ?? null);
  const seen = nodeNamed(facts.view.cluster, last?.node ?? null);
  return {
    kind: "primary_lost",
    severity: "error",
    cluster,
    node: last?.node ?? null,
    message: `${cluster} has no ${roleName(last)}: ${cause}`,
    cause,
    figures: {
      ...(last === null ? {} : { previous_primary: last.node }),
      ...(seen === undefined || seen.report === null ? {} : { last_answer_ms: Math.round(nowMs - seen.sentAtMs) }),
    },
  };
}

function found(memory: PrimaryMemory, { cluster, nowMs }: ClusterFacts, primary: PrimaryFacts): EventDraft {
  const { last, isLossReported, wasHidden } = memory;
  // A gap shorter than a round of probes cannot be measured.
  const lostSinceMs = isLossReported ? memory.lostSinceMs : null;
  const isAgain = last?.node === primary.node;
  const was = last === null || isAgain ? "" : ` (was ${last.node})`;
  const after = lostSinceMs === null ? "" : ` after ${spanText(nowMs - lostSinceMs)} without one`;
  const unseen = lostSinceMs === null && wasHidden ? ", which changed while rolecall could not see the cluster" : "";
  const role = roleName(primary);
  const figures: EventFigures = {
    ...(lostSinceMs === null ? {} : { without_primary_ms: Math.round(nowMs - lostSinceMs) }),
    ...(last === null ? {} : { previous_primary: last.node }),
    ...(primary.timeline === null ? {} : { timeline: primary.timeline }),
  };
  return {
    kind: "primary_found",
    // A log of errors alone shows the end of the outage too, and one of warnings each change of the primary.
    severity: lostSinceMs !== null ? "error" : last === null || isAgain ? "info" : "warning",
    cluster,
    node: primary.node,
    message: isAgain
      ? `${primary.node} is the ${role} of ${cluster} again${after}`
      : `${primary.node} is the ${last === null ? "" : "new "}${role} of ${cluster}${after}${was}${unseen}`,
    cause: null,
    figures,
  };
}

/**
 * The timeline of the primary is lower than that of the last one. A second report has to confirm it: right after a
 * promotion a node may still report the timeline that it had as a replica.
 */
function timelineBack(memory: PrimaryMemory, { cluster }: ClusterFacts, primary: PrimaryFacts): readonly EventDraft[] {
  const known = memory.last?.timeline ?? null;
  const { timeline, node } = primary;
  if (known === null || timeline === null || timeline >= known) {
    memory.lowerAtMs = null;
    memory.last = { ...primary, timeline: timeline ?? known };
    return [];
  }
  const system = memory.last?.system ?? null;
  if (memory.lowerAtMs === null || primary.sentAtMs <= memory.lowerAtMs) {
    memory.lowerAtMs ??= primary.sentAtMs;
    memory.last = { ...primary, timeline: known, system };
    return [];
  }
  memory.lowerAtMs = null;
  memory.last = primary;
  const isOtherSystem = system !== null && primary.system !== null && system !== primary.system;
  return [
    {
      kind: "timeline_back",
      severity: "error",
      cluster,
      node,
      message: `timeline of ${cluster} went back from ${known} to ${timeline}: writes may be lost`,
      cause: isOtherSystem
        ? `${node} has another database system than the last primary: ${primary.system}, not ${system}`
        : `${node} leads on timeline ${timeline}`,
      figures: { timeline_before: known, timeline },
    },
  ];
}

function roleName(primary: Pick<PrimaryFacts, "isStandbyLeader"> | null): string {
  return primary?.isStandbyLeader === true ? "standby leader" : "primary";
}

/** Why a cluster has no primary, as far as rolecall knows. @param previous the last primary */
function lossCause({ view, claims, nowMs }: ClusterFacts, previous: string | null): string {
  const known = nodeNamed(view.cluster, claims.holder ?? previous);
  if (claims.holder === null && claims.nodes.length > 1) return `${listText(claims.nodes)} claim the leader lock`;
  if (known === undefined || known.report === null) return "no node holds the leader lock";
  const name = known.node.name;
  if (known.failuresInRow > 0)
    return `${name} does not answer${known.failure === null ? "" : `: ${failureText(known.failure)}`}`;
  if (nowMs - known.sentAtMs >= view.maxAgeMs)
    return `${name} has not been probed for ${spanText(nowMs - known.sentAtMs)}`;
  const { role, state } = known.report;
  if (claims.holder === name) return `${name} holds the leader lock, but is not writable (role ${role}, ${state})`;
  const loss = view.cluster.leadership.lostClaims.get(name);
  if (known.hasLock && loss?.withdrawal !== undefined) return lostClaimText(name, loss);
  if (known.hasLock) return `the cluster does not confirm the claim of ${name} on the leader lock`;
  return `${name} no longer holds the leader lock (role ${role}, ${state})`;
}
