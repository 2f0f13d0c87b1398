import { formatLsn } from "../../cluster/values/lsn.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { WalFloor } from "../check.ts";
import { graceOn } from "../evidence/leadership/api-outage-grace.ts";
import { timelineOf } from "../evidence/position/measure.ts";
import { sharedUpTo } from "../evidence/history/history.ts";
import { fit, unfit, type Verdict } from "../verdict.ts";
import { skipped, type NodeCheck, type Rule, type RuleContext, type Shown } from "./rule.ts";

/**
 * A replica has replayed what the check's `min_lsn` names (docs/checks.md, "Read your own writes"). Damping never
 * softens it: a client that reads its own writes needs each single read to see them.
 */
export const floor: Rule = {
  judge: judgeFloor,
  show: (context) => showFloor(context, { verb: "replayed", reached: context.report.replayed }),
};

/**
 * The same for a node that passes as the leader. A bare position never refuses it. With its timeline, the write has to
 * be in the leader's history: a failover may have lost it. A primary need not report a position of its own timeline: it
 * may have written it after its last report.
 */
export const leaderFloor: Rule = {
  judge(context) {
    const { minLsn } = context.check;
    if (minLsn === null || minLsn.timeline === null) return fit;
    const { view, observation, report } = context;
    if (report.role !== "primary") return judgeFloor(context);
    return isInHistory(view.cluster, observation, minLsn) ? fit : refuse(observation, minLsn, report.location);
  },
  show(context) {
    const { minLsn } = context.check;
    if (minLsn !== null && minLsn.timeline === null)
      return [skipped("min_lsn", "a position without timeline exempts the leader")];
    return showFloor(context, { verb: "at", reached: context.report.location ?? context.report.replayed });
  },
};

/** The same for a primary whose claim is from an earlier run: nothing says which writes its history contains. */
export const unheardFloor: Rule<NodeCheck> = {
  judge: ({ check: { minLsn } }) => (minLsn === null || minLsn.timeline === null ? fit : unfit("min_lsn")),
  show({ view, observation, check: { minLsn, route } }, refusal) {
    if (minLsn === null || refusal === null || !graceOn(view, observation, route).isGranted) return [];
    return [
      { rule: "min_lsn", value: "not known", limit: `${formatLsn(minLsn.position)} of timeline ${minLsn.timeline}` },
    ];
  },
};

function judgeFloor({ view, observation, report, check: { minLsn } }: RuleContext): Verdict {
  if (minLsn === null) return fit;
  const { replayed } = report;
  const isReached = replayed !== null && replayed >= minLsn.position;
  return isReached && isInHistory(view.cluster, observation, minLsn) ? fit : refuse(observation, minLsn, replayed);
}

function showFloor(
  { view, observation, check: { minLsn } }: RuleContext,
  { verb, reached }: { readonly verb: string; readonly reached: number | null },
): readonly Shown[] {
  if (minLsn === null) return [];
  const { timeline, position } = minLsn;
  const on = timeline === null ? "" : ` on timeline ${timelineOf(observation) ?? "not stated"}`;
  const sharedEnd = timeline === null ? null : sharedUpTo(view.cluster, timeline);
  const of = timeline === null ? "" : ` of timeline ${timeline}`;
  return [
    {
      rule: "min_lsn",
      value: reached === null ? "not known" : `${verb} ${formatLsn(reached)}${on}`,
      limit: `${formatLsn(position)}${of}${sharedEnd === null ? "" : `, ended at ${formatLsn(sharedEnd)}`}`,
    },
  ];
}

/**
 * Whether the node's history contains what was written at a position of a timeline: the timeline has to be the node's
 * own, or one that its history left no earlier than there. After a failover that lost writes the new timeline grows
 * past positions that it never had.
 */
function isInHistory(cluster: ClusterState, observation: Observation, minLsn: WalFloor): boolean {
  if (minLsn.timeline === null) return true;
  const timeline = timelineOf(observation);
  if (timeline === null || minLsn.timeline >= timeline) return minLsn.timeline === timeline;
  return minLsn.position <= (sharedUpTo(cluster, minLsn.timeline) ?? -1);
}

function refuse(observation: Observation, minLsn: WalFloor, reached: number | null): Verdict {
  if (reached === null) return unfit("min_lsn");
  const position = formatLsn(reached);
  return unfit("min_lsn", minLsn.timeline === null ? position : `${timelineOf(observation) ?? "?"}@${position}`);
}
