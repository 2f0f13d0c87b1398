import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { formatLsn } from "../../cluster/values/lsn.ts";
import type { Report } from "../../cluster/documents/report.ts";
import { isExempt, judgeAttachment, judgeStream } from "../evidence/attachment.ts";
import { attachmentWarning } from "./attachment-warning.ts";
import { isOnLowerTimeline, switchPointOf } from "../evidence/divergence.ts";
import { ruleLine, seconds, skippedRule, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { hasReplicaRules, passesAsLeader } from "./explain-role.ts";
import { judgeLag, presentLag } from "../judge/lag.ts";
import type { Hold } from "../evidence/failover-hold.ts";
import { judgeStandbyLeader } from "../judge/lock.ts";
import { lagBytes, totalLagBytes } from "../evidence/measure.ts";
import { floorRules } from "./explain-floor.ts";
import { isReadyWhileRunning, judgeReadiness, judgeReplicationState } from "../judge/replica.ts";
import type { Reason } from "../reason.ts";
import { originAt, lagOriginOf } from "../evidence/origin.ts";
import { walReached } from "../evidence/report-position.ts";
import { freshLeader, isInSenderChain } from "../evidence/sender-chain.ts";

/** Rules 5 and 6: whether the node receives WAL, and whether it is on the leader's history. */
export function attachmentRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { report } = observation;
  if (report === null || !hasReplicaRules(check.route) || passesAsLeader(subject, report)) return [];
  if (check.route === "readiness" && isReadyWhileRunning(report))
    return [skippedRule("history and stream", "not checked on nodes before version 4.1")];
  if (!view.policy.guards.attachedReplica) return [skippedRule("history and stream", "guard attached_replica is off")];
  const leader = freshLeader(view);
  const attachment = judgeAttachment(view, { observation, report }, check);
  const received = judgeStream(observation, check);
  const history = ruleLine(subject, {
    rule: "history",
    value: historyOf(subject, report),
    limit: `timeline ${view.cluster.position?.timeline ?? "not known"}`,
    refusal: !attachment.fit && attachment.reason === "diverged" ? attachment.reason : null,
  });
  const stream = ruleLine(subject, {
    rule: "stream",
    value: streamOf(subject),
    limit: `a sign of attachment within ${seconds(view.policy.guards.attachWindowMs)}${leader === null ? "; no time counts without a fresh leader" : ""}`,
    refusal: received.fit ? null : received.reason,
    source: `replication[] of ${leader?.node.name ?? "no leader"}, positions of ${observation.node.name}`,
  });
  return [history, stream];
}

/** Rule 4: whether the node has replayed enough. */
export function lagRules(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { report } = observation;
  if (report === null) return [];
  if (isBehindSource(subject, report)) {
    const limits = judgeLag(view, { observation, report }, check);
    return [...floorRules(subject), lagRule(subject, limits.fit ? null : limits.reason)];
  }
  if (!hasReplicaRules(check.route) || passesAsLeader(subject, report)) return floorRules(subject);
  const reportedNode = { observation, report };
  if (check.route === "readiness") return [...floorRules(subject), readinessRule(subject, report)];
  const rows: RuleLine[] = [];
  if (check.replicationState !== null) {
    const state = judgeReplicationState(reportedNode, check.replicationState);
    const refusal = state.fit ? null : state.reason;
    rows.push(
      ruleLine(subject, {
        rule: "replication state",
        value: report.replicationState ?? "not reported",
        limit: check.replicationState,
        refusal,
      }),
    );
  }
  rows.push(...floorRules(subject));
  const limits = judgeLag(view, reportedNode, check);
  rows.push(lagRule(subject, limits.fit ? null : limits.reason));
  return rows;
}

function lagRule(subject: ExplainContext, refusal: Reason | null): RuleLine {
  const { view, observation, check } = subject;
  const { bytes, timeMs, hold } = presentLag(view, observation);
  const behind = bytes === null ? "unknown lag in bytes" : `${formatByteSize(bytes)} behind`;
  const late = timeMs === null ? "unknown in time" : `${seconds(timeMs)} in time${heldSince(hold, view.nowMs)}`;
  const limits = [
    check.lagBytesMax === null ? null : formatByteSize(check.lagBytesMax),
    check.lagTimeMsMax === null ? null : seconds(check.lagTimeMsMax),
    observation.dampedLag === null ? null : `${view.policy.guards.lagSamples} samples in a row decide`,
  ].filter((limit) => limit !== null);
  const { position } = view.cluster;
  const source =
    position === null || view.nowMs >= (position.pageUntilMs ?? Infinity)
      ? "no leader position is known"
      : `positions up to ${formatLsn(position.highest)} on timeline ${position.timeline}${behindOrigin(subject)}`;
  return ruleLine(subject, {
    rule: "lag",
    value: `${behind}, ${late}`,
    limit: limits.length === 0 ? "no limit" : limits.join(", "),
    refusal,
    source,
  });
}

/** Names the hold of a time lag once the leader is silent. While it answers, its next report ends the hold. */
function heldSince(hold: Hold | null, nowMs: number): string {
  if (hold === null || hold.isLeaderAnswering) return "";
  return ` (held since the leader's last position, ${seconds(nowMs - hold.statedAtMs)} ago)`;
}

/** Whether the check's limits apply to the node as the leader of a standby cluster whose source is configured. */
function isBehindSource({ view, observation, check }: ExplainContext, report: Report): boolean {
  const isRoute = check.route === "standby-leader" || check.route.startsWith("read-only");
  return isRoute && lagOriginOf(view.cluster) !== null && judgeStandbyLeader(view, { observation, report }).fit;
}

/** Names the primary that the lag of a standby cluster counts from, and what is known of its position. */
function behindOrigin({ view, observation }: ExplainContext): string {
  const { cluster } = view;
  const origin = lagOriginOf(cluster);
  if (origin === null) return "";
  const position = originAt(cluster, observation, view);
  if (position !== null) return `; of the source ${origin.name} positions up to ${formatLsn(position.highest)}`;
  const [system, other] = [observation.report?.system ?? null, origin.position?.system ?? null];
  const isOther = system !== null && other !== null && system !== other;
  const why = isOther ? `it is of the system ${other}, not of ${system}` : "no comparable position is known";
  return `; of the source ${origin.name} ${why}`;
}

function readinessRule(subject: ExplainContext, report: Report): RuleLine {
  const { view, observation, check } = subject;
  if (isReadyWhileRunning(report)) return skippedRule("lag", "not checked on nodes before version 4.1");
  const reason = reasonOf(subject, report);
  const lagOf = check.lagBytesMax === null ? lagBytes : totalLagBytes;
  const bytes = lagOf(view, observation, check.mode === "write" ? "received" : "replayed");
  const limit = check.lagBytesMax ?? view.cluster.config?.lagMaxOnFailover ?? null;
  return ruleLine(subject, {
    rule: "lag",
    value: `${bytes === null ? "unknown lag" : `${formatByteSize(bytes)} behind`} (${check.mode})`,
    limit: limit === null ? "no limit" : formatByteSize(limit),
    refusal: reason === "lagging" || reason === "lag_unknown" ? reason : null,
  });
}

function reasonOf({ view, observation, check }: ExplainContext, report: Report): Reason | null {
  const verdict = judgeReadiness(view, { observation, report }, check);
  return verdict.fit ? null : verdict.reason;
}

function historyOf({ view, observation }: ExplainContext, report: Report): string {
  const reached = walReached(report);
  const where = `timeline ${report.timeline ?? "not stated"}${reached === null ? "" : ` at ${formatLsn(reached)}`}`;
  const { fork } = observation.attachment;
  if (fork !== null) return `${where}; it has WAL up to ${formatLsn(fork.upTo)} that its leader did not write`;
  if (!isOnLowerTimeline(view.cluster, observation)) return where;
  const switchPoint = switchPointOf(view.cluster, report);
  return switchPoint === null ? where : `${where}; that timeline ended at ${formatLsn(switchPoint)}`;
}

function streamOf({ view, observation }: ExplainContext): string {
  if (observation.node.isArchiveFed) return "archive_fed: it needs no stream";
  if (isExempt(observation)) return "tag nostream: it needs no stream";
  const warning = attachmentWarning(view, observation);
  if (warning !== null) return warning;
  return isInSenderChain(view, observation.node.name)
    ? "listed by its sender, and advances or has nothing to receive"
    : "advances, or has nothing to receive";
}
