import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { zoneOf } from "../evidence/node/zone.ts";
import { isAgainstSessions } from "../reason.ts";
import type { Verdict } from "../verdict.ts";
import { companions } from "./companions.ts";
import { shownDrain, trusted } from "./drain.ts";
import { onlyWitness, secondWitness } from "./exporter.ts";
import { freshnessRules } from "./freshness.ts";
import { identityRules } from "./identity.ts";
import { heartbeat } from "./liveness.ts";
import { asksForZone, judgeMember, localFitness } from "./pool.ts";
import { appliedRules, rulesFor } from "./route-rules.ts";
import { unheardFloor } from "./wal-floor.ts";
import type { NodeCheck, Rule, RuleContext, Shown } from "./rule.ts";
import { sessionsCheck } from "./sessions.ts";

/** One rule as it was applied to one node. */
export interface RuleLine {
  /** A short name of the rule. */
  readonly rule: string;
  /** `pass` or `refuse` by this rule alone; `skip` if it does not apply to this check or its guard is off. */
  readonly outcome: "pass" | "refuse" | "skip";
  /** The observed value. */
  readonly value: string;
  /** The limit, if the rule has one. */
  readonly limit: string | null;
  /** The age of the evidence, in ms; `null` without evidence. */
  readonly ageMs: number | null;
  /** The source of the evidence, as `GET /leader of pg1`. */
  readonly source: string;
  /** The reason of a refusal by this rule. */
  readonly reason: string | null;
}

/** The verdict on a node, and the rules that lead to it. */
export interface Explanation {
  readonly verdict: Verdict;
  /** Every rule, in the order of judgement. */
  readonly rules: readonly RuleLine[];
  /** The index in `rules` of the rule that decided; `null` for a yes. */
  readonly decisive: number | null;
}

/**
 * Explains the verdict on one node: every rule of judgement in order, each with the observed value, the limit, the age
 * and the source of its evidence, and its outcome. The lines come from the rules that judge.
 */
export function explain(view: ClusterView, observation: Observation, check: Check): Explanation {
  const verdict = judgeMember(view, observation, check);
  const context: NodeCheck = { view, observation, check: check.isForSessions ? sessionsCheck(check) : check };
  const shown = [
    ...shownBy(trusted, context),
    ...shownRules(context),
    ...(check.route === "liveness" ? [] : shownBy(companions, context)),
    ...shownDrain(context),
    ...shownZone(context),
  ];
  const counted = check.isForSessions ? shown.map((each) => forOpenSessions(verdict, each)) : shown;
  const rules = counted.map((each) => lineOf(context, each));
  const decisive = verdict.fit ? -1 : rules.findIndex(({ reason }) => reason === verdict.reason);
  return { verdict, rules, decisive: decisive < 0 ? null : decisive };
}

function shownRules(context: NodeCheck): readonly Shown[] {
  const { view, observation, check } = context;
  const { report, node } = observation;
  if (check.route === "liveness") return shownBy(heartbeat, context);
  const evidence = freshnessRules.flatMap((rule) => shownBy(rule, context));
  const witness = node.api === null ? [] : shownBy(secondWitness, context);
  if (report === null) return [...evidence, ...shownBy(unheardFloor, context), ...witness];
  const reported: RuleContext = { view, observation, report, check };
  return [
    ...evidence,
    ...identityRules.flatMap((rule) => shownBy(rule, reported)),
    ...(node.api === null ? shownBy(onlyWitness, reported) : witness),
    ...appliedRules(rulesFor(check.route, node, check), reported).flatMap(({ rule, isRequired }) =>
      isRequired ? shownBy(rule, reported) : rule.show(reported, null),
    ),
  ];
}

/** The zone of the node, where the check asks for one. */
function shownZone({ view, observation, check }: NodeCheck): readonly Shown[] {
  if (!asksForZone(check)) return [];
  const zone = zoneOf(view.policy, observation);
  const isLocal = zone !== null && check.zones.includes(zone);
  const isRefused = !isLocal && localFitness(view, check).holds;
  const asked = check.zones.join(" or ");
  const rest = isLocal ? "" : isRefused ? `; a node of ${asked} is fit` : `; no node of ${asked} is fit`;
  const { zoneTag } = view.policy;
  return [
    {
      rule: "zone",
      value: `${zone ?? "none"}${rest}`,
      limit: `${asked}, or any while no node there is fit`,
      source: observation.node.zone !== null || zoneTag === undefined ? "configuration" : `tag ${zoneTag}`,
      refusal: isRefused ? "other_zone" : null,
    },
  ];
}

/** A line whose no does not count against open sessions says nothing about them. */
function forOpenSessions(verdict: Verdict, shown: Shown): Shown {
  const { refusal = null } = shown;
  const counts = refusal === null || (!verdict.fit && isAgainstSessions(refusal));
  return counts ? shown : { ...shown, isSkipped: true };
}

function shownBy<Context extends NodeCheck>(rule: Rule<Context>, context: Context): readonly Shown[] {
  const verdict = rule.judge(context);
  const refusal = verdict.fit ? null : verdict.reason;
  return rule.show(context, refusal).map((shown) => ({ refusal, ...shown }));
}

function lineOf({ view, observation }: NodeCheck, shown: Shown): RuleLine {
  const { rule, value, limit = null, source = sourceOf(observation), isSkipped = false, refusal = null } = shown;
  const reportAgeMs = observation.report === null ? null : Math.round(view.nowMs - observation.sentAtMs);
  const reason = isSkipped ? null : refusal;
  const outcome = isSkipped ? "skip" : reason === null ? "pass" : "refuse";
  const { ageMs = reportAgeMs } = shown;
  return { rule, outcome, value, limit, ageMs, source, reason };
}

/** The source of a node's report. */
function sourceOf({ node }: Observation): string {
  return node.api === null ? `GET /up of the exporter of ${node.name}` : `GET /leader of ${node.name}`;
}
