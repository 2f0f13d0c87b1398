import { formatLsn } from "../../cluster/values/lsn.ts";
import { ruleLine, skippedRule, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { hasReplicaRules, passesAsLeader } from "./explain-role.ts";
import { judgeFloor, judgeLeaderFloor } from "../judge/wal-floor.ts";
import { timelineOf } from "../evidence/measure.ts";
import { sharedUpTo } from "../evidence/shared-history.ts";

/** Whether the node has what the check's `min_lsn` names; no rule where the check has none or its route ignores it. */
export function floorRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { report } = observation;
  const { minLsn, route } = check;
  if (report === null || minLsn === null || route === "health" || route === "liveness") return [];
  const isLeader = !hasReplicaRules(route) || passesAsLeader(subject, report);
  const { timeline, position } = minLsn;
  if (isLeader && timeline === null) return [skippedRule("min_lsn", "a position without timeline exempts the leader")];
  const reached = isLeader ? (report.location ?? report.replayed) : report.replayed;
  const on = timeline === null ? "" : ` on timeline ${timelineOf(observation) ?? "not stated"}`;
  const sharedEnd = timeline === null ? null : sharedUpTo(view.cluster, timeline);
  const of = timeline === null ? "" : ` of timeline ${timeline}`;
  const verdict = (isLeader ? judgeLeaderFloor : judgeFloor)(view, { observation, report }, check);
  const line = ruleLine(subject, {
    rule: "min_lsn",
    value: reached === null ? "not known" : `${isLeader ? "at" : "replayed"} ${formatLsn(reached)}${on}`,
    limit: `${formatLsn(position)}${of}${sharedEnd === null ? "" : `, ended at ${formatLsn(sharedEnd)}`}`,
    refusal: verdict.fit ? null : verdict.reason,
  });
  return [line];
}
