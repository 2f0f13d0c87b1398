import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterFacts, PrimaryFacts } from "../../health/conditions/cluster-facts.ts";
import { lossCause } from "../../health/conditions/primary-loss.ts";
import { spanText } from "../../health/wording.ts";
import type { EventDraft, EventSeverity } from "../cluster-event.ts";
import { isAnnounced } from "./announced-change.ts";

/**
 * How far the loss of a primary has come. Instants in ms of rolecall's clock.
 *
 * - `none`: there is a primary
 * - `unsure`: none is seen, but one may be found that was not probed since
 * - `announced`: reported as a change of the primary that was announced; it becomes trouble if it lasts
 * - `reported`: reported as trouble
 */
type Loss =
  { readonly kind: "none" } | { readonly kind: "unsure" | "announced" | "reported"; readonly sinceMs: number };

/** How long an announced change may leave a cluster without a primary before that is trouble, in ms. */
const unnoticedMs = 2_000;

/** What is remembered of a cluster's primary. */
export interface PrimaryMemory {
  /** The last primary; `null` before the first one. */
  last: Pick<PrimaryFacts, "node" | "isStandbyLeader" | "timeline" | "system"> | null;
  loss: Loss;
  /** When the probe was sent that last found the primary, in ms of rolecall's clock; `null` before the first one. */
  seenAtMs: number | null;
  /** Whether the cluster could not be seen since the last primary was. */
  wasHidden: boolean;
  /** The report with a lower timeline that waits for a second one, by when its probe was sent; `null` if none does. */
  lowerAtMs: number | null;
  /** When a call that changes the primary was last forwarded, in ms of rolecall's clock; -Infinity if none was. */
  calledAtMs: number;
}

/** Before a cluster's first primary. */
export function noPrimaryYet(): PrimaryMemory {
  return {
    last: null,
    loss: { kind: "none" },
    seenAtMs: null,
    wasHidden: false,
    lowerAtMs: null,
    calledAtMs: -Infinity,
  };
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
  if (primary === null) return lossEvents(memory, facts);
  const { last, loss } = memory;
  const isNew = loss.kind === "announced" || loss.kind === "reported" || (last !== null && last.node !== primary.node);
  const events = [...(isNew ? [found(memory, facts, primary)] : []), ...timelineBack(memory, facts, primary)];
  memory.loss = { kind: "none" };
  memory.seenAtMs = primary.sentAtMs;
  memory.wasHidden = false;
  return events;
}

/** Reports that a primary is lost: at once, and again if the loss was announced and lasts. */
function lossEvents(memory: PrimaryMemory, facts: ClusterFacts): readonly EventDraft[] {
  const { loss } = memory;
  const sinceMs = loss.kind === "none" ? facts.nowMs : loss.sinceMs;
  if (loss.kind === "none") memory.loss = { kind: "unsure", sinceMs };
  if (loss.kind === "reported") return [];
  if (loss.kind === "announced") {
    if (facts.nowMs - sinceMs < unnoticedMs) return [];
    memory.loss = { kind: "reported", sinceMs };
    return [lost(memory, facts, { severity: "error", forMs: facts.nowMs - goneSinceMs(memory, sinceMs) })];
  }
  if (!isLossSure(memory, facts, sinceMs)) return [];
  const isShort = facts.nowMs - sinceMs < unnoticedMs;
  const kind = isShort && isAnnounced(facts, memory.last?.node ?? null, memory.calledAtMs) ? "announced" : "reported";
  memory.loss = { kind, sinceMs };
  return [lost(memory, facts, { severity: kind === "announced" ? "info" : "error", forMs: null })];
}

/** Since when a cluster has no primary, in ms of rolecall's clock; `null` if that was not reported. */
function reportedSinceMs(memory: PrimaryMemory): number | null {
  const { loss } = memory;
  return loss.kind === "announced" || loss.kind === "reported" ? goneSinceMs(memory, loss.sinceMs) : null;
}

/**
 * Since when there may have been no primary: since the last answer of the last one, as in the situation. While the
 * cluster could not be seen, nothing is known of that time.
 * @param foundMs when it was found that there is none. All in ms of rolecall's clock
 */
function goneSinceMs({ seenAtMs, wasHidden }: PrimaryMemory, foundMs: number): number {
  return wasHidden ? foundMs : Math.min(foundMs, seenAtMs ?? Infinity);
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

/** @param forMs how long there has been none, in ms; `null` for the first report of it */
function lost(
  { last }: PrimaryMemory,
  facts: ClusterFacts,
  { severity, forMs }: { readonly severity: EventSeverity; readonly forMs: number | null },
): EventDraft {
  const { cluster, nowMs } = facts;
  const cause = lossCause(facts.view, facts.claims, last?.node ?? null);
  const state = forMs === null ? "has no" : "still has no";
  const span = forMs === null ? "" : ` after ${spanText(forMs)}`;
  const seen = nodeNamed(facts.view.cluster, last?.node ?? null);
  return {
    kind: "primary_lost",
    severity,
    cluster,
    node: last?.node ?? null,
    message: `${cluster} ${state} ${roleName(last)}${span}: ${cause}`,
    cause,
    figures: {
      ...(last === null ? {} : { previous_primary: last.node }),
      ...(seen === undefined || seen.report === null ? {} : { last_answer_ms: Math.round(nowMs - seen.sentAtMs) }),
      ...(forMs === null ? {} : { without_primary_ms: Math.round(forMs) }),
    },
  };
}

function found(memory: PrimaryMemory, { cluster, nowMs }: ClusterFacts, primary: PrimaryFacts): EventDraft {
  const { last, wasHidden } = memory;
  // A gap shorter than a round of probes cannot be measured.
  const lostSinceMs = reportedSinceMs(memory);
  const isAgain = last?.node === primary.node;
  const was = last === null || isAgain ? "" : ` (was ${last.node})`;
  const after = lostSinceMs === null ? "" : ` after ${spanText(nowMs - lostSinceMs)} without one`;
  const unseen = lostSinceMs === null && wasHidden ? ", which changed while rolecall could not see the cluster" : "";
  const role = roleName(primary);
  const figures: EventDraft["figures"] = {
    ...(lostSinceMs === null ? {} : { without_primary_ms: Math.round(nowMs - lostSinceMs) }),
    ...(last === null ? {} : { previous_primary: last.node }),
    ...(primary.timeline === null ? {} : { timeline: primary.timeline }),
  };
  return {
    kind: "primary_found",
    severity: "info",
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
    memory.last = timeline === null ? { ...primary, timeline: known } : primary;
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
