import { formatByteSize } from "../cluster/byte-size.ts";
import { formatLsn } from "../cluster/lsn.ts";
import type { Report } from "../cluster/report.ts";
import { isExempt, judgeAttachment } from "./attachment.ts";
import { attachmentWarning } from "./attachment-warning.ts";
import { isOnLowerTimeline, switchPointOf } from "./divergence.ts";
import type { RuleLine } from "./explain.ts";
import { line, seconds, skipped, type Subject } from "./explain-line.ts";
import { isLeading } from "./explain-role.ts";
import { judgeLag, presentLag, timelineOf } from "./lag.ts";
import { lagBytes } from "./measure.ts";
import { isBeforeStreaming, judgeReadiness, judgeReplicationState } from "./replica.ts";
import type { Reason } from "./reason.ts";
import type { Route } from "./route.ts";
import { sharedUpTo } from "./shared-history.ts";
import { reachedBy } from "./position.ts";
import { freshLeader, isListed } from "./stream.ts";

const noReplicaRoutes: ReadonlySet<Route> = new Set(["primary", "standby-leader", "leader", "health", "liveness"]);

/** Rules 5 and 6: does it follow the leader's stream, on the leader's history. */
export function attachmentRules(subject: Subject): readonly RuleLine[] {
  const { sight, observation, check } = subject;
  const { report } = observation;
  if (report === null || noReplicaRoutes.has(check.route) || isLeading(subject, report)) return [];
  if (check.route === "readiness" && isBeforeStreaming(report))
    return [skipped("history and stream", "not asked of nodes before version 4")];
  if (!sight.settings.guards.attachedReplica) return [skipped("history and stream", "guard attached_replica is off")];
  const leader = freshLeader(sight);
  const verdict = judgeAttachment(sight, { observation, report }, check);
  const reason = verdict.fit ? null : verdict.reason;
  const history = line(subject, {
    rule: "history",
    value: historyOf(subject, report),
    limit: `timeline ${sight.part.position?.timeline ?? "not known"}`,
    refusal: reason === "diverged" ? reason : null,
  });
  const stream = line(subject, {
    rule: "stream",
    value: streamOf(subject),
    limit: `a sign within ${seconds(sight.settings.guards.attachWindowMs)}${leader === null ? "; no time counts without a fresh leader" : ""}`,
    refusal: reason === "detached" || reason === "stalled" ? reason : null,
    source: `replication[] of ${leader?.node.name ?? "no leader"}, positions of ${observation.node.name}`,
  });
  return [history, stream];
}

/** Rule 4: has it replayed enough. */
export function lagRules(subject: Subject): readonly RuleLine[] {
  const { sight, observation, check } = subject;
  const { report } = observation;
  if (report === null || noReplicaRoutes.has(check.route) || isLeading(subject, report)) return [];
  const witness = { observation, report };
  if (check.route === "readiness") return [readinessRule(subject, report)];
  const rows: RuleLine[] = [];
  if (check.replicationState !== null) {
    const state = judgeReplicationState(witness, check.replicationState);
    const refusal = state.fit ? null : state.reason;
    rows.push(
      line(subject, {
        rule: "replication state",
        value: report.replicationState ?? "not reported",
        limit: check.replicationState,
        refusal,
      }),
    );
  }
  const verdict = judgeLag(sight, witness, check);
  const reason = verdict.fit ? null : verdict.reason;
  if (check.minLsn !== null) {
    const { timeline, position } = check.minLsn;
    const on = timeline === null ? "" : ` on timeline ${timelineOf(observation) ?? "not stated"}`;
    const value = report.replayed === null ? "not known" : `replayed ${formatLsn(report.replayed)}${on}`;
    const left = timeline === null ? null : sharedUpTo(sight.part, timeline);
    const limit = `${formatLsn(position)}${timeline === null ? "" : ` of timeline ${timeline}`}${left === null ? "" : `, left at ${formatLsn(left)}`}`;
    rows.push(line(subject, { rule: "min_lsn", value, limit, refusal: reason === "min_lsn" ? reason : null }));
  }
  rows.push(lagRule(subject, reason === "min_lsn" ? null : reason));
  return rows;
}

function lagRule(subject: Subject, refusal: Reason | null): RuleLine {
  const { sight, observation, check } = subject;
  const { bytes, timeMs } = presentLag(sight, observation);
  const behind = bytes === null ? "lag in bytes not known" : `${formatByteSize(bytes)} behind`;
  const late = timeMs === null ? "in time not known" : `${seconds(timeMs)} in time`;
  const limits = [
    check.lagBytesMax === null ? null : formatByteSize(check.lagBytesMax),
    check.lagTimeMsMax === null ? null : seconds(check.lagTimeMsMax),
    observation.dampedLag === null ? null : `${sight.settings.guards.lagSamples} samples in a row decide`,
  ].filter((limit) => limit !== null);
  const { position } = sight.part;
  const source =
    position === null
      ? "no leader position was ever seen"
      : `positions up to ${formatLsn(position.highest)} on timeline ${position.timeline}`;
  return line(subject, {
    rule: "lag",
    value: `${behind}, ${late}`,
    limit: limits.length === 0 ? "none asked for" : limits.join(", "),
    refusal,
    source,
  });
}

function readinessRule(subject: Subject, report: Report): RuleLine {
  const { sight, observation, check } = subject;
  if (isBeforeStreaming(report)) return skipped("lag", "not asked of nodes before version 4");
  const reason = reasonOf(subject, report);
  const bytes = lagBytes(sight, observation, check.mode === "write" ? "received" : "replayed");
  const limit = check.lagBytesMax ?? sight.part.config?.lagMaxOnFailover ?? null;
  return line(subject, {
    rule: "lag",
    value: `${bytes === null ? "lag not known" : `${formatByteSize(bytes)} behind`} (${check.mode})`,
    limit: limit === null ? "none asked for" : formatByteSize(limit),
    refusal: reason === "lagging" || reason === "lag_unknown" ? reason : null,
  });
}

function reasonOf({ sight, observation, check }: Subject, report: Report): Reason | null {
  const verdict = judgeReadiness(sight, { observation, report }, check);
  return verdict.fit ? null : verdict.reason;
}

function historyOf({ sight }: Subject, report: Report): string {
  const reached = reachedBy(report);
  const where = `timeline ${report.timeline ?? "not stated"}${reached === null ? "" : ` at ${formatLsn(reached)}`}`;
  if (!isOnLowerTimeline(sight.part, report)) return where;
  const left = switchPointOf(sight.part, report);
  return left === null ? where : `${where}; the leader's history left that timeline at ${formatLsn(left)}`;
}

function streamOf({ sight, observation }: Subject): string {
  if (observation.node.isArchiveFed) return "archive_fed: it needs no stream";
  if (isExempt(observation)) return "tag nostream: it needs no stream";
  const warning = attachmentWarning(sight, observation);
  if (warning !== null) return warning;
  return isListed(sight, observation.node.name)
    ? "listed by its sender, and moves or has nothing to receive"
    : "moves, or has nothing to receive";
}
