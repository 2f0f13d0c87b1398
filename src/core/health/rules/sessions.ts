import type { Report } from "../../cluster/documents/report.ts";
import type { Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { freshUntilMs } from "../evidence/node/freshness.ts";
import { isAgainstSessions, isSoft } from "../reason.ts";
import { fit, passingOver, validUntil, type Unfit, type Verdict } from "../verdict.ts";
import { identityRules } from "./identity.ts";
import { isReplicaRoute, judgeRoute, type RouteRules } from "./route-rules.ts";
import { judgeAll, type NodeCheck, type RuleContext } from "./rule.ts";

/**
 * Returns the check by which open sessions are judged. With `fallback=primary` the sessions may be those of a primary,
 * so what counts against a primary counts on routes of replicas too.
 */
export function sessionsCheck(check: Check): Check {
  return check.fallbackPrimary && isReplicaRoute(check.route) ? { ...check, route: "read-only" } : check;
}

/** Lets open sessions live unless there is positive evidence against the node. */
export function forSessions(verdict: Verdict, view: ClusterView): Verdict {
  if (verdict.fit) return verdict;
  if (verdict.reason === "down") return judgeDown(verdict, view);
  if (isAgainstSessions(verdict.reason)) return verdict;
  return isSoft(verdict.reason) ? validUntil(fit, verdict.validUntilMs) : passingOver(verdict);
}

/**
 * If no node of several answers, the fault is likely rolecall's (rule 9). Nodes may be down seconds before the cluster
 * counts as blind.
 */
function judgeDown(down: Unfit, { cluster, maxAgeMs, nowMs }: ClusterView): Verdict {
  if (cluster.nodes.length === 1) return down;
  const answering = cluster.nodes.filter(({ isDown, report }) => !isDown && report !== null);
  const heardUntilMs = Math.max(...answering.map((observation) => freshUntilMs(observation, maxAgeMs)));
  return nowMs < heardUntilMs ? validUntil(down, heardUntilMs) : passingOver(down);
}

/**
 * Judges the sessions of a node that is silent. What its last report shows against it counts on, except for the state
 * of the database: that may have changed.
 * @param silence the no for its silence
 */
export function judgeSilent(silence: Verdict, context: NodeCheck, rules: RouteRules): Verdict {
  const { report } = context.observation;
  if (silence.fit || silence.reason !== "stale" || report === null) return silence;
  const last = judgeLast({ ...context, report }, rules);
  const counts = !last.fit && isAgainstSessions(last.reason) && !isOutdated(last, context.view);
  return validUntil(counts ? last : silence, Math.min(last.validUntilMs, silence.validUntilMs));
}

function judgeLast(context: RuleContext & { readonly report: Report }, rules: RouteRules): Verdict {
  const identified = judgeAll(identityRules, context);
  return identified.fit ? judgeRoute(rules, context) : identified;
}

/** A claim that is not accepted only because its node is silent says nothing against it: nobody else leads. */
function isOutdated({ reason }: Unfit, { lock }: ClusterView): boolean {
  return reason === "not_writable" || ((reason === "superseded" || reason === "contested") && lock.holder === null);
}
