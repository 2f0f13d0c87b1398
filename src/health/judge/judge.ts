import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { withDrain } from "./drain.ts";
import { isFresh } from "../evidence/freshness.ts";
import { judgeExporterNode } from "./judge-exporter.ts";
import { isDifferentAddress, identityMismatch } from "../evidence/identity.ts";
import { judgeLiveness } from "./liveness.ts";
import { judgeLock, judgePrimary, judgeStandbyLeader } from "./lock.ts";
import { judgeAsync, judgeQuorum, judgeReadiness, judgeReplica, judgeSync, judgeTags } from "./replica.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { hasGraceOn } from "./api-outage-grace.ts";
import { degraded, fit, unfit, type Verdict } from "../verdict.ts";

/**
 * Answers a check of one node. Pure: the same arguments always give the same verdict.
 * What every route needs comes first (evidence that is there, fresh, and of the right node), then the route's own rule
 * (reference/node-api.md, "Health checks: 200 when").
 */
export function judge(view: ClusterView, observation: Observation, check: Check): Verdict {
  if (check.route === "liveness") return judgeLiveness(view, observation);
  const { report } = observation;
  const isSilent = observation.isDown || view.isBlind || !isFresh(observation, view.maxAgeMs, view.nowMs);
  if (isSilent && hasGraceOn(view, observation, check.route)) return degraded;
  if (view.isBlind) return unfit("blind");
  if (observation.isDown) return unfit("down", observation.failure?.kind ?? null);
  if (report === null) return unfit("unknown");
  if (!isFresh(observation, view.maxAgeMs, view.nowMs))
    return unfit("stale", `${Math.round((view.nowMs - observation.sentAtMs) / 1000)}s`);
  const mistaken = identityMismatch(view.cluster, observation, view.policy);
  if (mistaken !== null) return unfit(mistaken, mistaken === "misaddressed" ? report.name : report.scope);
  if (check.database !== null && isDifferentAddress(check.database, observation.node.database)) return unfit("moved");
  const witness = { observation, report };
  const verdict =
    observation.node.api === null ? judgeExporterNode(view, witness, check) : judgeRoute(view, witness, check);
  if (view.cluster.drains.size === 0) return verdict;
  return withDrain(verdict, view, { node: observation.node.name, claims: observation.hasLock, check });
}

function judgeRoute(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  switch (check.route) {
    case "primary":
      return judgePrimary(view, reported);
    case "standby-leader":
      return judgeStandbyLeader(view, reported);
    case "leader":
      return judgeLock(view, reported);
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

interface Alternative {
  readonly check: Check;
  readonly otherwise: (clusterView: ClusterView, witness: ReportedNode, check: Check) => Verdict;
}

/** A `read-only` route: the primary or the standby leader, else what the plain route says. */
function orLeader(view: ClusterView, reported: ReportedNode, { check, otherwise }: Alternative): Verdict {
  const isLeader = judgePrimary(view, reported).fit || judgeStandbyLeader(view, reported).fit;
  return judgeTags(isLeader ? fit : otherwise(view, reported, check), reported, check);
}
