import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { graceOn } from "../evidence/leadership/api-outage-grace.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { freshUntilMs, isHeard } from "../evidence/node/freshness.ts";
import { degraded, unfit, validUntil, type Verdict } from "../verdict.ts";
import { companions } from "./companions.ts";
import { trusted, withDrain } from "./drain.ts";
import { onlyWitness } from "./exporter.ts";
import { freshnessRules } from "./freshness.ts";
import { ownDatabase, identityRules } from "./identity.ts";
import { heartbeat } from "./liveness.ts";
import { judgeRoute, rulesFor, type RouteRules } from "./route-rules.ts";
import { judgeAll, type NodeCheck, type RuleContext } from "./rule.ts";
import { forSessions, judgeSilent, sessionsCheck } from "./sessions.ts";
import { leaderFloor, unheardFloor } from "./wal-floor.ts";

/**
 * Judges a check of one node. Pure: the same arguments always give the same verdict. What every route needs comes first
 * (evidence that exists, is fresh, and is of the right node), then the route's own rules, then the companions that the
 * check asks for (docs/judgement.md).
 */
export function judge(view: ClusterView, observation: Observation, check: Check): Verdict {
  if (!check.isForSessions) return judgeNode(view, observation, check);
  return forSessions(judgeNode(view, observation, sessionsCheck(check)), view);
}

function judgeNode(view: ClusterView, observation: Observation, check: Check): Verdict {
  const { route } = check;
  if (route === "liveness") return heartbeat.judge({ view, observation, check });
  const rules = rulesFor(route, observation.node, check);
  const context = { view, observation, check };
  const distrust = trusted.judge(context);
  if (!distrust.fit) return distrust;
  if (isHeard(view, observation))
    return validUntil(judgeAnswering(view, observation, { check, rules }), freshUntilMs(observation, view.maxAgeMs));
  const grace = graceOn(view, observation, route);
  const verdict = grace.isGranted ? judgeGraced(context, rules) : judgeAll(freshnessRules, context);
  return validUntil(check.isForSessions ? judgeSilent(verdict, context, rules) : verdict, grace.validUntilMs);
}

/** Judges a node that answers, by its last report. */
function judgeAnswering(
  view: ClusterView,
  observation: Observation,
  { check, rules }: { readonly check: Check; readonly rules: RouteRules },
): Verdict {
  const { report } = observation;
  if (report === null) return unfit("unknown");
  const context: RuleContext = { view, observation, report, check };
  const identified = judgeAll(identityRules, context);
  if (!identified.fit) return identified;
  const witness = observation.node.api === null ? onlyWitness.judge(context) : identified;
  const verdict = witness.fit ? validUntil(judgeRoute(rules, context), witness.validUntilMs) : witness;
  const accompanied = verdict.fit ? validUntil(companions.judge(context), verdict.validUntilMs) : verdict;
  return withDrain(accompanied, context);
}

/**
 * Judges a primary that `survive` keeps. What refused it while it answered still does: its last report says which writes
 * its history contains, and its tags.
 */
function judgeGraced(context: NodeCheck, { everyNode }: RouteRules): Verdict {
  const { view, observation, check } = context;
  const { report } = observation;
  const address = ownDatabase.judge(context);
  if (!address.fit) return address;
  const kept =
    report === null
      ? judgeAll([unheardFloor, companions], context)
      : judgeAll([leaderFloor, ...everyNode, companions], { view, observation, report, check });
  return withDrain(kept.fit ? validUntil(degraded, kept.validUntilMs) : kept, context);
}
