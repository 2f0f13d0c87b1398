import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { judge } from "./judge.ts";
import { lagBytes } from "../evidence/measure.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import { degraded, fit, unfit, type Verdict } from "../verdict.ts";

/** The answer to a check of a whole cluster, and the node whose document goes with it. */
export interface PoolVerdict {
  readonly verdict: Verdict;
  readonly chosen: Observation | null;
}

/** Judges one node, as a member of its pool where the check asks for `keep` or `fallback` (design.md, "The node dialect"). */
export function judgeMember(view: ClusterView, observation: Observation, check: Check): Verdict {
  const verdict = judge(view, observation, check);
  if (verdict.fit || (check.keep === 0 && !check.fallbackPrimary)) return verdict;
  if ((verdict.reason === "lagging" || verdict.reason === "lag_unknown") && isKept(view, observation, check))
    return degraded;
  return check.fallbackPrimary && isFallback(view, observation, check) ? degraded : verdict;
}

/** A cluster is fit when at least one node is; the node chosen is the primary, else the one that lags least. */
export function judgePool(view: ClusterView, check: Check): PoolVerdict {
  if (view.cluster.nodes.length === 0) return { verdict: unfit("unknown"), chosen: null };
  let chosen: Observation | null = null;
  // Blind is what nobody survives: a primary that lives on by its exporter's word is a yes for the cluster too.
  let verdict: Verdict = unfit(view.isBlind && check.route !== "liveness" ? "blind" : "none_fit");
  for (const candidate of view.cluster.nodes) {
    const own = judgeMember(view, candidate, check);
    if (!own.fit || (chosen !== null && !isPreferred(view, candidate, chosen))) continue;
    chosen = candidate;
    verdict = own.isDegraded ? degraded : fit;
  }
  return { verdict, chosen };
}

/** The primary before replicas, a smaller lag before a greater, a known one before an unknown. */
function isPreferred(view: ClusterView, one: Observation, other: Observation): boolean {
  return rank(view, one) < rank(view, other);
}

function rank(view: ClusterView, observation: Observation): number {
  if (observation.node.name === view.lock.holder) return -1;
  return lagBytes(view, observation) ?? Infinity;
}

/** Whether the node is among the least lagging that a lag limit has to leave in; one whose lag is not known comes last. */
function isKept(view: ClusterView, observation: Observation, check: Check): boolean {
  const unlimited = { ...check, lagBytesMax: null, lagTimeMsMax: null };
  const candidates = view.cluster.nodes.filter((node) => judge(view, node, unlimited).fit);
  // A lagging node may be no candidate for another reason too: not synchronous, of another place.
  if (!candidates.includes(observation)) return false;
  // Damping may refuse a node that lags less than one it lets in: places are filled from those that are refused.
  const refused = candidates.filter((node) => !judge(view, node, check).fit);
  const places = check.keep - (candidates.length - refused.length);
  return refused.filter((node) => node !== observation && isAhead(view, node, observation)).length < places;
}

/** Of two that lag alike the one listed first is ahead, so that `keep=1` keeps one. */
function isAhead(view: ClusterView, one: Observation, other: Observation): boolean {
  const [lag, otherLag] = [lagBytes(view, one) ?? Infinity, lagBytes(view, other) ?? Infinity];
  return lag === otherLag ? view.cluster.nodes.indexOf(one) < view.cluster.nodes.indexOf(other) : lag < otherLag;
}

function isFallback(view: ClusterView, observation: Observation, check: Check): boolean {
  if (!judge(view, observation, { ...check, route: "primary" }).fit) return false;
  const replicasOnly = { ...check, fallbackPrimary: false };
  return !view.cluster.nodes.some((node) => node !== observation && judgeMember(view, node, replicasOnly).fit);
}
