import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { judge } from "./judge.ts";
import { zoneOf } from "../evidence/node/zone.ts";
import { lagBytes, measuredUntilMs } from "../evidence/position/measure.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { degraded, fit, unfit, validUntil, type Verdict } from "../verdict.ts";

/** The answer to a check of a whole cluster, and the node whose document goes with it. */
export interface PoolVerdict {
  /** Its `validUntilMs` holds for the chosen node too. */
  readonly verdict: Verdict;
  readonly chosen: Observation | null;
}

/** Judges one node, as a member of its pool where the check has `keep`, `fallback` or `zone`. */
export function judgeMember(view: ClusterView, observation: Observation, check: Check): Verdict {
  return memberJudge(view, check)(observation);
}

/** Judges the nodes of a pool one by one. What the check of each of them needs to know of the pool is found out once. */
export function memberJudge(view: ClusterView, check: Check): (observation: Observation) => Verdict {
  if (!asksForZone(check)) return (observation) => judgeAnywhere(view, observation, check);
  let local: Finding | null = null;
  return (observation) => {
    const verdict = judgeAnywhere(view, observation, check);
    const zone = zoneOf(view.policy, observation);
    if (!verdict.fit || isOneOf(zone, check)) return verdict;
    local ??= localFitness(view, check);
    const untilMs = Math.min(verdict.validUntilMs, local.validUntilMs);
    return validUntil(local.holds ? unfit("other_zone", zone ?? "none") : verdict, untilMs);
  };
}

/** Judges one node wherever it is. */
function judgeAnywhere(view: ClusterView, observation: Observation, check: Check): Verdict {
  const verdict = judge(view, observation, check);
  if (verdict.fit || check.isForSessions || (check.keep === 0 && !check.fallbackPrimary)) return verdict;
  let untilMs = verdict.validUntilMs;
  if (verdict.reason === "lagging" || verdict.reason === "lag_unknown") {
    const kept = isKept(view, observation, check);
    untilMs = Math.min(untilMs, kept.validUntilMs);
    if (kept.holds) return validUntil(degraded, untilMs);
  }
  // Whether a heartbeat loop runs has nothing to do with roles.
  if (!check.fallbackPrimary || check.route === "liveness") return validUntil(verdict, untilMs);
  const fallback = isFallback(view, observation, check);
  return validUntil(fallback.holds ? degraded : verdict, Math.min(untilMs, fallback.validUntilMs));
}

/** Judges a whole cluster: fit if at least one node is. Chooses the primary, else the node with the least lag. */
export function judgePool(view: ClusterView, check: Check): PoolVerdict {
  const { nodes } = view.cluster;
  if (nodes.length === 0) return { verdict: unfit("unknown"), chosen: null };
  let chosen: { readonly node: Observation; readonly verdict: Verdict; readonly rank: number } | null = null;
  let untilMs = Infinity;
  const judgeOne = memberJudge(view, check);
  for (const node of nodes) {
    const verdict = judgeOne(node);
    untilMs = Math.min(untilMs, verdict.validUntilMs);
    if (!verdict.fit) continue;
    untilMs = Math.min(untilMs, measuredUntilMs(view.cluster, node, view.nowMs));
    const rank = rankOf(view, node);
    if (chosen === null || rank < chosen.rank) chosen = { node, verdict, rank };
  }
  if (chosen !== null) {
    const { node, verdict, rank } = chosen;
    // While the primary is fit it is chosen, whatever changes at other nodes; and any node may become the primary.
    const rankedMs = Math.min(rank === primaryRank ? verdict.validUntilMs : untilMs, view.lock.validUntilMs);
    return { verdict: validUntil(verdict.fit && verdict.isDegraded ? degraded : fit, rankedMs), chosen: node };
  }
  // `/liveness` is never blind: it is about processes, not about evidence.
  if (check.route === "liveness") return { verdict: validUntil(unfit("none_fit"), untilMs), chosen: null };
  // A primary that `survive` keeps fit makes the cluster fit, so it is blind only here, where no node is fit.
  if (view.isBlind) return { verdict: validUntil(unfit("blind"), untilMs), chosen: null };
  return { verdict: validUntil(unfit("none_fit"), Math.min(untilMs, view.blindFromMs)), chosen: null };
}

const primaryRank = -1;

/** The primary before replicas, a smaller lag before a greater, a known one before an unknown. */
function rankOf(view: ClusterView, observation: Observation): number {
  if (observation.node.name === view.lock.holder) return primaryRank;
  return lagBytes(view, observation) ?? Infinity;
}

/** The check as it applies to the other members of the pool: a database address that it states is of one node. */
function ofMembers(check: Check): Check {
  return check.database === null ? check : { ...check, database: null };
}

/** Whether zones matter. The routes about a node alone, and checks of open sessions, ignore them. */
export function asksForZone({ zones, route, isForSessions }: Check): boolean {
  return zones.length > 0 && !isForSessions && route !== "health" && route !== "liveness";
}

function isOneOf(zone: string | null, { zones }: Check): boolean {
  return zone !== null && zones.includes(zone);
}

/** Whether a node of the check's zones is fit. */
export function localFitness(view: ClusterView, check: Check): Finding {
  const pooled = ofMembers(check);
  let untilMs = Infinity;
  for (const node of view.cluster.nodes) {
    if (!isOneOf(zoneOf(view.policy, node), check)) continue;
    const verdict = judgeAnywhere(view, node, pooled);
    if (verdict.fit) return { holds: true, validUntilMs: verdict.validUntilMs };
    untilMs = Math.min(untilMs, verdict.validUntilMs);
  }
  return { holds: false, validUntilMs: untilMs };
}

/** A condition, and up to when it holds if no outcome is recorded meanwhile, in ms of rolecall's clock. */
export interface Finding {
  readonly holds: boolean;
  readonly validUntilMs: number;
}

/** Whether `keep` keeps the node in the pool: it is among the N with the least lag. Unknown lag comes last. */
function isKept(view: ClusterView, observation: Observation, check: Check): Finding {
  const pooled = ofMembers(check);
  const unlimited = { ...pooled, lagBytesMax: null, lagTimeMsMax: null };
  const refused: Observation[] = [];
  let untilMs = Infinity;
  let isCandidate = false;
  let places = check.keep;
  for (const node of view.cluster.nodes) {
    const candidate = judge(view, node, unlimited);
    untilMs = Math.min(untilMs, candidate.validUntilMs);
    if (!candidate.fit) continue;
    const limited = judge(view, node, pooled);
    untilMs = Math.min(untilMs, limited.validUntilMs, measuredUntilMs(view.cluster, node, view.nowMs));
    if (node === observation) isCandidate = true;
    // Damping may refuse a node that lags less than one it lets in: places are filled from those that are refused.
    if (limited.fit) places -= 1;
    else refused.push(node);
  }
  // A lagging node may be no candidate for another reason too: it is not synchronous, or has not the tag.
  const ahead = refused.filter((node) => isAhead(view, node, observation));
  return { holds: isCandidate && ahead.length < places, validUntilMs: untilMs };
}

/** Of two that lag alike the one listed first is ahead, so that `keep=1` keeps one. */
function isAhead(view: ClusterView, one: Observation, other: Observation): boolean {
  const [lag, otherLag] = [lagBytes(view, one) ?? Infinity, lagBytes(view, other) ?? Infinity];
  return lag < otherLag || (lag === otherLag && view.cluster.nodes.indexOf(one) < view.cluster.nodes.indexOf(other));
}

/** Whether the node is the primary, and no other node is fit. */
function isFallback(view: ClusterView, observation: Observation, check: Check): Finding {
  const primary = judge(view, observation, { ...check, route: "primary" });
  if (!primary.fit) return { holds: false, validUntilMs: primary.validUntilMs };
  const replicasOnly = { ...ofMembers(check), fallbackPrimary: false };
  let untilMs = primary.validUntilMs;
  for (const node of view.cluster.nodes) {
    if (node === observation) continue;
    const verdict = judgeAnywhere(view, node, replicasOnly);
    if (verdict.fit) return { holds: false, validUntilMs: Math.min(primary.validUntilMs, verdict.validUntilMs) };
    untilMs = Math.min(untilMs, verdict.validUntilMs);
  }
  return { holds: true, validUntilMs: untilMs };
}
