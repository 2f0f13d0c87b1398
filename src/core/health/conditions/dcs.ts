/** The DCS of a cluster: whether its nodes reach it, whether rolecall reads it, and the conditions that follow. */
import type { DcsState } from "../../cluster/dcs.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { claimsOf } from "../evidence/leadership/claim-facts.ts";
import { isHeard, lockTtlMs, loopWaitMs, retryTimeoutMs } from "../evidence/node/freshness.ts";
import { listText, spanText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case, type Told } from "./condition.ts";
import { foundEnds } from "./event-kinds.ts";

/**
 * Whether the nodes of a cluster reach the DCS, by what they state (`dcs_last_seen`). A node reads the DCS in each of
 * its loops.
 *
 * - `silent`: no node that answers and says something has reached it for longer than a loop. That takes two such nodes,
 *   or the only node: one node alone may be cut off
 * - `reached`: at least one has
 * - `unstated`: nodes answer, and none says anything
 * - `unknown`: rolecall has not seen for long enough what they state
 */
export type DcsReach =
  | { readonly kind: "reached" | "unstated" | "unknown" }
  | {
      readonly kind: "silent";
      /** Since when the last of them has stated the same, in ms of rolecall's clock. */
      readonly sinceMs: number;
      readonly nodes: readonly string[];
    };

/** How much later than its loop a node may state its contact with the DCS: a slow loop, and whole seconds. In ms. */
export const slackMs = 3_000;

/** See {@link DcsReach}. */
export function dcsReach(view: ClusterView): DcsReach {
  const nodes: string[] = [];
  let sinceMs = -Infinity;
  let isAnswered = false;
  let isReached = false;
  let isStanding = true;
  for (const node of view.cluster.nodes) {
    const { dcsContact } = node;
    if (!isHeard(view, node)) continue;
    isAnswered = true;
    if (dcsContact === null) continue;
    nodes.push(node.node.name);
    sinceMs = Math.max(sinceMs, dcsContact.statedSinceMs);
    if (isDcsOverdue(view, node)) continue;
    isStanding = false;
    isReached ||= dcsContact.formerForMs !== null;
  }
  if (nodes.length === 0) return { kind: isAnswered ? "unstated" : "unknown" };
  if (isReached) return { kind: "reached" };
  const isEnough = nodes.length > 1 || view.cluster.nodes.length === 1;
  return isStanding && isEnough ? { kind: "silent", sinceMs, nodes } : { kind: "unknown" };
}

/** Whether a node has not reached the DCS for longer than a loop, by its own statement. */
export function isDcsOverdue(view: ClusterView, node: Observation): boolean {
  return standingMs(node) >= loopWaitMs(view.cluster) + slackMs;
}

/** Whether a node reaches the DCS in each of its loops: now, and before its last contact. */
export function reachesDcsSteadily(view: ClusterView, node: Observation): boolean {
  const formerForMs = node.dcsContact?.formerForMs ?? Infinity;
  return isHeard(view, node) && formerForMs < loopWaitMs(view.cluster) + slackMs && !isDcsOverdue(view, node);
}

/** What keeps the primary although no node reaches the DCS; `null` if nothing does. */
export function keptWithoutDcs(view: ClusterView): "failsafe" | "pause" | null {
  const heard = view.cluster.nodes.filter((node) => isHeard(view, node));
  if (heard.some(({ report }) => report?.isFailsafe === true)) return "failsafe";
  return heard.some(({ report }) => report?.isPaused === true) ? "pause" : null;
}

/**
 * Says that a node has not reached the DCS for longer than a loop and its retries, though not the whole cluster has
 * lost it; else `null`.
 */
export function lostDcsText(view: ClusterView, observation: Observation): string | null {
  const { dcsContact } = observation;
  const limitMs = loopWaitMs(view.cluster) + retryTimeoutMs(view.cluster) + slackMs;
  if (dcsContact === null || standingMs(observation) < limitMs || !isHeard(view, observation)) return null;
  if (dcsReach(view).kind === "silent") return null;
  return `has not reached the DCS for ${spanText(view.nowMs - dcsContact.statedSinceMs)}`;
}

/** For how long a node has stated the same contact, up to its last report, in ms; 0 if it states none. */
function standingMs({ dcsContact, sentAtMs }: Observation): number {
  return dcsContact === null ? 0 : sentAtMs - dcsContact.statedSinceMs;
}

/** What is known to be wrong with the DCS. */
export interface DcsTrouble {
  /** For the end of a sentence. */
  readonly cause: string;
  /** Since when no node reaches it, in ms of rolecall's clock, and which nodes say so; `null` if they may reach it. */
  readonly silence: { readonly sinceMs: number; readonly nodes: readonly string[] } | null;
  /** Why rolecall itself cannot read it; `null` if it can, or does not try. */
  readonly unread: string | null;
}

/** @returns `null` if nothing is known to be wrong with the DCS */
export function dcsTrouble(view: ClusterView): DcsTrouble | null {
  const reach = dcsReach(view);
  const unread = unreadOf(view.cluster.dcs)?.detail ?? null;
  if (reach.kind === "silent") {
    const nodes = `no node has reached the DCS for ${spanText(view.nowMs - reach.sinceMs)}`;
    return { cause: unread === null ? nodes : `${nodes}, nor does rolecall (${unread})`, silence: reach, unread };
  }
  return unread === null ? null : { cause: unreadText(unread), silence: null, unread };
}

function unreadText(unread: string): string {
  return `the DCS does not answer rolecall (${unread})`;
}

function unreadOf(dcs: DcsState | null): DcsState["failure"] {
  return dcs === null || dcs.isUp ? null : dcs.failure;
}

/** No node reaches the DCS. It is trouble, unless a pause or failsafe mode keeps the primary. */
export const dcsUnreachable = {
  id: "dcs_unreachable",
  title: "no node reaches the DCS",
  harm: "leaderless",
  events: {
    begins: "dcs_unreachable",
    ends: foundEnds.dcs_unreachable,
    severities: ["error", "warning"],
    holds: silenceFound,
    endText: (cluster: string) => `a node of ${cluster} reaches the DCS again`,
    isEndKnown: ({ view }: ClusterFacts) => ["reached", "unstated"].includes(dcsReach(view).kind),
  },
  status: { condition: "warning", tell: tellSilence },
  alerts: ["RolecallDcsUnreachable"],
} as const satisfies Condition;

function silenceFound({ cluster, view, nowMs }: ClusterFacts): readonly Case[] {
  const trouble = dcsTrouble(view);
  if (trouble === null || trouble.silence === null) return [];
  const { silence, unread } = trouble;
  const kept = keptWithoutDcs(view);
  const silentMs = nowMs - silence.sinceMs;
  const statement = `${listText(silence.nodes)} ${silence.nodes.length === 1 ? "has" : "have"} stated no newer contact`;
  return [
    oneCase({
      severity: kept === null ? "error" : "warning",
      message: `no node of ${cluster} reaches the DCS: ${statement} for ${spanText(silentMs)}`,
      cause: unread === null ? null : `rolecall cannot read it either (${unread})`,
      figures: { nodes: silence.nodes.length, silent_ms: Math.round(silentMs) },
      level: kept ?? "",
      sinceMs: silence.sinceMs,
    }),
  ];
}

/** It concerns the whole cluster, and may be the cause of what is wrong with its nodes. */
function tellSilence(view: ClusterView): Told | null {
  const trouble = dcsTrouble(view);
  if (trouble === null || trouble.silence === null) return null;
  const { silence, unread } = trouble;
  const unreadToo = unread === null ? "" : `, and rolecall cannot read it (${unread})`;
  return {
    wrong: "no node reaches the DCS",
    cause: `${listText(silence.nodes)} ${silence.nodes.length === 1 ? "states" : "state"} no newer contact${unreadToo}`,
    sinceMs: silence.sinceMs,
    next: prospect(view, ""),
    action: lookAtDcs,
  };
}

export const lookAtDcs = "Look at the DCS and at the network to it";

/** What follows while the DCS is not reached. @param condition what must hold for it, with a comma behind it */
export function prospect(view: ClusterView, condition: string): string {
  const [primary] = claimsOf(view).nodes;
  const name = primary ?? "the primary";
  const kept = keptWithoutDcs(view);
  if (kept === "failsafe") return `${name} goes on in failsafe mode while it reaches every member`;
  if (kept === "pause") return `${name} goes on while the cluster is paused, and nobody can take over`;
  return `${condition}${name} gives up the lock within ${lockTtlMs(view.cluster) / 1000} s`;
}

/** rolecall itself cannot read the DCS. */
export const dcsLost = {
  id: "dcs_lost",
  title: "rolecall cannot read the DCS",
  harm: "doubtful",
  events: {
    begins: "dcs_lost",
    ends: foundEnds.dcs_lost,
    severities: ["warning"],
    holds: ({ cluster, view }: ClusterFacts): readonly Case[] => {
      const failure = unreadOf(view.cluster.dcs);
      if (failure === null) return [];
      const { detail } = failure;
      const message = `the DCS of ${cluster} cannot be read (${detail}): rolecall goes on with its probes alone`;
      return [oneCase({ severity: "warning", message, cause: detail })];
    },
    endText: (cluster: string) => `the DCS of ${cluster} is watched again`,
  },
  status: { condition: "warning", tell: tellUnread },
  alerts: ["RolecallDcsLost"],
} as const satisfies Condition;

function tellUnread(view: ClusterView): Told | null {
  const failure = unreadOf(view.cluster.dcs);
  // That no node reaches it is worse, and is reported instead.
  if (failure === null || dcsReach(view).kind === "silent") return null;
  return {
    wrong: "the DCS does not answer",
    cause: unreadText(failure.detail),
    sinceMs: null,
    next: prospect(view, "if the nodes cannot reach it either, "),
    action: lookAtDcs,
  };
}

/** The DCS stopped naming a node that went on leading. */
export const dcsDistrusted = {
  id: "dcs_distrusted",
  title: "the DCS is distrusted",
  harm: "doubtful",
  events: {
    begins: "dcs_distrusted",
    ends: foundEnds.dcs_distrusted,
    severities: ["error"],
    holds: ({ cluster, view }: ClusterFacts): readonly Case[] => {
      const distrust = view.cluster.dcs?.distrust ?? null;
      if (distrust === null) return [];
      const { member, namedInstead } = distrust.withdrawal;
      const named = namedInstead ?? "nobody";
      return [
        oneCase({
          severity: "error",
          message: `the DCS of ${cluster} is distrusted: ${member} leads although the DCS names ${named}`,
          cause: "its claim went on for a whole ttl; the prefix, the scope or the addresses of the DCS may be wrong",
          figures: { member, names: named },
        }),
      ];
    },
    endText: (cluster: string) => `the DCS of ${cluster} is trusted again`,
  },
  status: { condition: "warning", tell: tellDistrust },
  alerts: [],
} as const satisfies Condition;

function tellDistrust({ cluster }: ClusterView): Told | null {
  const distrust = cluster.dcs?.distrust ?? null;
  if (distrust === null) return null;
  const { member, namedInstead } = distrust.withdrawal;
  return {
    wrong: "the DCS is distrusted",
    cause: `${member} leads although the DCS names ${namedInstead ?? "nobody"}`,
    sinceMs: null,
    next: "it withdraws no yes until it follows a change of the leader",
    action: "Correct the prefix, the scope or the addresses of the DCS, which may be wrong: `rolecall doctor` reads it",
  };
}

/** One node alone does not reach the DCS. Its verdicts do not depend on it, so there is no event. */
export const cutOff = {
  id: "cut_off",
  title: "a node alone does not reach the DCS",
  harm: "doubtful",
  status: { within: "node_warned" },
  ofNode: {
    warning: lostDcsText,
    isRemark: true,
    isOf: ({ reason, refused, warning }, view, observation) =>
      reason === null && refused.length === 0 && warning !== null && warning === lostDcsText(view, observation),
    advice: ({ node }, view) => ({
      next:
        view.lock.holder === node
          ? `${node} gives up the lock if this lasts, and another node takes it`
          : `${node} goes on as it is, and cannot take the lock`,
      action: `Look at the network from ${node} to the DCS, and at the log of its Patroni`,
    }),
  },
  alerts: [],
} as const satisfies Condition;
