import { formatLsn } from "../../cluster/values/lsn.ts";
import { isBeforeVersion, type Report } from "../../cluster/documents/report.ts";
import { isExempt } from "../evidence/attachment/attachment.ts";
import { attachmentWarning } from "../evidence/attachment/attachment-warning.ts";
import { divergenceUntilMs, hasDiverged, isOnLowerTimeline, switchPointOf } from "../evidence/attachment/divergence.ts";
import { timelineOf } from "../evidence/position/measure.ts";
import { walReached } from "../evidence/node/report-position.ts";
import { freshLeader, isInSenderChain } from "../evidence/leadership/sender-chain.ts";
import { fit, unfit, validUntil } from "../verdict.ts";
import { seconds, skipped, type Rule, type RuleContext } from "./rule.ts";

/** The node's WAL is in the leader's history (rule 6). */
export const inHistory: Rule = {
  judge({ view, observation }) {
    if (!view.policy.guards.attachedReplica) return fit;
    const { fork } = observation.attachment;
    const verdict = hasDiverged(view, observation)
      ? unfit("diverged", `${fork === null ? "" : "own "}timeline ${timelineOf(observation)}`)
      : fit;
    return validUntil(verdict, divergenceUntilMs(view, observation));
  },
  show(context) {
    const { view } = context;
    if (!view.policy.guards.attachedReplica) return [skipped("history and stream", "guard attached_replica is off")];
    const limit = `timeline ${view.cluster.position?.timeline ?? "not known"}`;
    return [{ rule: "history", value: historyOf(context), limit }];
  },
};

/** The node receives WAL (rule 5). */
export const stream: Rule = {
  judge({ view, observation, check }) {
    const isUnneeded = isExempt(observation) || check.replicationState === "in archive recovery";
    if (!view.policy.guards.attachedReplica || isUnneeded) return fit;
    const { isDetached, isStalled, silentMs, listedMs } = observation.attachment;
    if (isDetached) return unfit("detached", durationOf(silentMs));
    return isStalled ? unfit("stalled", durationOf(listedMs)) : fit;
  },
  show(context) {
    const { view, observation } = context;
    if (!view.policy.guards.attachedReplica) return [];
    const leader = freshLeader(view);
    const within = `a sign of attachment within ${seconds(view.policy.guards.attachWindowMs)}`;
    return [
      {
        rule: "stream",
        value: streamOf(context),
        limit: leader === null ? `${within}; no time counts without a fresh leader` : within,
        source: `replication[] of ${leader?.node.name ?? "no leader"}, positions of ${observation.node.name}`,
      },
    ];
  },
};

/**
 * The node is in the replication state that the check asks for. A node whose version is before 4 is not refused because
 * it reports none: Patroni reports it since 3.1.
 */
export const wantedState: Rule = {
  judge({ report, check }) {
    if (check.replicationState === null || report.replicationState === check.replicationState) return fit;
    const isUnstated = report.replicationState === null && isBeforeVersion(report, [4, 0]);
    return isUnstated ? fit : unfit("replication_state", report.replicationState);
  },
  show: ({ report, check }) =>
    check.replicationState === null
      ? []
      : [
          {
            rule: "replication state",
            value: report.replicationState ?? "not reported",
            limit: check.replicationState,
          },
        ],
};

/** The node streams, as its own `/readiness` requires it. */
export const streaming: Rule = {
  judge: ({ report }) =>
    report.replicationState === "streaming" ? fit : unfit("replication_state", report.replicationState),
  show: ({ report }) => [
    { rule: "replication state", value: report.replicationState ?? "not reported", limit: "streaming" },
  ],
};

/** The same rules of `/readiness`, which apply since Patroni 4.1: before, a replica is ready while it runs. */
export function sinceReadinessLooksAtReplication(rule: Rule, name: string): Rule {
  return {
    judge: (context) => (isReadyWhileRunning(context.report) ? fit : rule.judge(context)),
    show: (context, refusal) =>
      isReadyWhileRunning(context.report)
        ? name === ""
          ? []
          : [skipped(name, "not checked on nodes before version 4.1")]
        : rule.show(context, refusal),
  };
}

/** Whether the node's own `/readiness` requires only that the database runs: Patroni before 4.1. */
export function isReadyWhileRunning(report: Report): boolean {
  return isBeforeVersion(report, [4, 1]);
}

/** For how long, as `12s`; `null` for a mark that an earlier run saved. */
function durationOf(ms: number): string | null {
  return ms === 0 ? null : `${Math.round(ms / 1000)}s`;
}

function historyOf({ view, observation, report }: RuleContext): string {
  const reached = walReached(report);
  const where = `timeline ${report.timeline ?? "not stated"}${reached === null ? "" : ` at ${formatLsn(reached)}`}`;
  const { fork } = observation.attachment;
  if (fork !== null) return `${where}; it has WAL up to ${formatLsn(fork.upTo)} that its leader did not write`;
  if (!isOnLowerTimeline(view.cluster, observation)) return where;
  const switchPoint = switchPointOf(view.cluster, report);
  return switchPoint === null ? where : `${where}; that timeline ended at ${formatLsn(switchPoint)}`;
}

function streamOf({ view, observation }: RuleContext): string {
  if (observation.node.isArchiveFed) return "archive_fed: it needs no stream";
  if (isExempt(observation)) return "tag nostream: it needs no stream";
  const warning = attachmentWarning(view, observation);
  if (warning !== null) return warning;
  return isInSenderChain(view, observation.node.name)
    ? "listed by its sender, and advances or has nothing to receive"
    : "advances, or has nothing to receive";
}
