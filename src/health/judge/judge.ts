import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { withDrain } from "./drain.ts";
import { activeDrainOf } from "../evidence/active-drain.ts";
import { freshUntilMs } from "../evidence/freshness.ts";
import { judgeExporterNode } from "./judge-exporter.ts";
import { isDifferentAddress, identityMismatch, mismatchFigure } from "../evidence/identity.ts";
import { judgeLiveness } from "./liveness.ts";
import { judgeLag } from "./lag.ts";
import { judgeLock, judgePrimary, judgeStandbyLeader } from "./lock.ts";
import { judgeAsync, judgeQuorum, judgeReadiness, judgeReplica, judgeSync, judgeTags } from "./replica.ts";
import { lagOriginOf } from "../evidence/origin.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { graceOn } from "../evidence/api-outage-grace.ts";
import { judgeLeaderFloor } from "./wal-floor.ts";
import { andThen, degraded, fit, orElse, unfit, unfitWithAge, validUntil, type Verdict } from "../verdict.ts";

/**
 * Judges a check of one node. Pure: the same arguments always give the same verdict. What every route needs comes first
 * (evidence that exists, is fresh, and is of the right node), then the route's own rule.
 */
export function judge(view: ClusterView, observation: Observation, check: Check): Verdict {
  if (check.route === "liveness") return judgeLiveness(view, observation);
  const drain = view.cluster.drains.size === 0 ? null : activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain?.extent === "distrust") return validUntil(unfit("distrusted", drain.reason), drain.untilMs);
  const freshMs = freshUntilMs(observation, view.maxAgeMs);
  // A cluster with a fresh report is not blind.
  if (view.nowMs < freshMs && !observation.isDown) return validUntil(judgeFresh(view, observation, check), freshMs);
  const grace = graceOn(view, observation, check.route);
  const verdict = grace.isGranted ? judgeGraced(view, observation, check) : refuseSilent(view, observation);
  return validUntil(verdict, grace.validUntilMs);
}

/**
 * Judges a primary that `survive` keeps. What refused it while it answered still does: its last report says which
 * writes its history contains, and its tags.
 */
function judgeGraced(view: ClusterView, observation: Observation, check: Check): Verdict {
  const { report, node } = observation;
  if (check.database !== null && isDifferentAddress(check.database, node.database)) return unfit("moved");
  const verdict = report === null ? judgeUnheard(check) : judgeLastReport(view, { observation, report }, check);
  return withDrain(verdict, view, { observation, check });
}

/** Its claim is from an earlier run: nothing says which writes its history contains. */
function judgeUnheard({ minLsn }: Check): Verdict {
  return minLsn === null || minLsn.timeline === null ? degraded : unfit("min_lsn");
}

function judgeLastReport(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const verdict = andThen(judgeLeaderFloor(view, reported, check), () => degraded);
  return check.route === "primary" || check.route === "leader" ? verdict : judgeTags(verdict, reported, check);
}

/** Names what is wrong with the evidence: the node is down, stale or never answered, or the cluster is blind. */
function refuseSilent(view: ClusterView, observation: Observation): Verdict {
  if (view.isBlind) return unfit("blind");
  if (observation.isDown) return validUntil(unfit("down", observation.failure?.kind ?? null), view.blindFromMs);
  if (observation.report === null) return validUntil(unfit("unknown"), view.blindFromMs);
  const age = `${Math.round((view.nowMs - observation.sentAtMs) / 1000)}s`;
  return validUntil(unfitWithAge("stale", age), view.blindFromMs);
}

/** Judges a node that answers, by its last report. */
function judgeFresh(view: ClusterView, observation: Observation, check: Check): Verdict {
  const { report } = observation;
  if (report === null) return unfit("unknown");
  const mismatch = identityMismatch(view.cluster, observation, view.policy);
  if (mismatch !== null) return unfit(mismatch, mismatchFigure(view.cluster, report, mismatch));
  if (check.database !== null && isDifferentAddress(check.database, observation.node.database)) return unfit("moved");
  const reported = { observation, report };
  const verdict =
    observation.node.api === null ? judgeExporterNode(view, reported, check) : judgeRoute(view, reported, check);
  return view.cluster.drains.size === 0 ? verdict : withDrain(verdict, view, { observation, check });
}

function judgeRoute(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  switch (check.route) {
    case "primary":
      return andThen(judgePrimary(view, reported), () => judgeLeaderFloor(view, reported, check));
    case "standby-leader":
      return judgeStandby(view, reported, check);
    case "leader":
      return andThen(judgeLock(view, reported), () => judgeLeaderFloor(view, reported, check));
    case "replica":
      return judgeTags(judgeReplica(view, reported, check), reported, check);
    case "read-only":
      return orLeader(view, reported, { check, otherwise: judgeReplica });
    case "sync":
      return judgeTags(judgeSync(view, reported, check), reported, check);
    case "read-only-sync":
      return orLeader(view, reported, { check, otherwise: judgeSync });
    case "quorum":
      return judgeTags(judgeQuorum(view, reported, check), reported, check);
    case "read-only-quorum":
      return orLeader(view, reported, { check, otherwise: judgeQuorum });
    case "async":
      return judgeTags(judgeAsync(view, reported, check), reported, check);
    case "health":
      return judgeTags(
        reported.report.state === "running" ? fit : unfit("not_running", reported.report.state),
        reported,
        check,
      );
    case "liveness":
      return judgeLiveness(view, reported.observation);
    case "readiness":
      return judgeReadiness(view, reported, check);
  }
}

/**
 * A standby leader that has what the check asks for. Its lag counts only behind a configured source: the nodes' own
 * checks do not look at it.
 */
function judgeStandby(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const verdict = andThen(judgeStandbyLeader(view, reported), () => judgeLeaderFloor(view, reported, check));
  return lagOriginOf(view.cluster) === null ? verdict : andThen(verdict, () => judgeLag(view, reported, check));
}

interface Alternative {
  readonly check: Check;
  readonly otherwise: (view: ClusterView, reported: ReportedNode, check: Check) => Verdict;
}

/**
 * A `read-only` route: fit for the primary or the standby leader; a replica as the plain route says. Any other node is
 * refused for what keeps it from being the leader: that is often a hard no, and its role never is.
 */
function orLeader(view: ClusterView, reported: ReportedNode, { check, otherwise }: Alternative): Verdict {
  const primary = judgePrimary(view, reported);
  const verdict = primary.fit
    ? andThen(primary, () => judgeLeaderFloor(view, reported, check))
    : orElse(primary, () => {
        const standby = judgeStandbyLeader(view, reported);
        if (standby.fit || reported.report.role === "standby_leader") return judgeStandby(view, reported, check);
        return orElse(standby, () => (reported.report.role === "replica" ? otherwise(view, reported, check) : primary));
      });
  return judgeTags(verdict, reported, check);
}
