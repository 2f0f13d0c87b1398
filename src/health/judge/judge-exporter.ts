import type { Check } from "../check.ts";
import { isDatabaseAlive } from "../evidence/exporter-claims.ts";
import { holdsLock, judgePrimary } from "./lock.ts";
import { judgeReadiness, judgeReplica, judgeTags } from "./replica.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { fit, unfit, type Unfit, type Verdict } from "../verdict.ts";

/**
 * Answers a check of a node that is known through its exporter alone: plain streaming replication, repmgr, pg_auto_failover. What only a
 * cluster manager knows (the lock, synchronous and quorum standbys) is refused with `no_manager`.
 */
export function judgeExporterNode(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const unsound = judgeSoundness(view, reported);
  if (unsound !== null) return unsound;
  switch (check.route) {
    case "primary":
      return judgePrimary(view, reported);
    case "replica":
      return judgeTags(judgeReplica(view, reported, check), reported, check);
    case "read-only":
      return judgeTags(judgePrimary(view, reported).fit ? fit : judgeReplica(view, reported, check), reported, check);
    case "health":
      return judgeTags(fit, reported, check);
    case "readiness":
      return holdsLock(view, reported.observation.node.name, reported.observation.hasLock)
        ? fit
        : judgeReadiness(view, reported, check);
    case "read-only-sync":
    case "read-only-quorum":
      return judgePrimary(view, reported).fit ? judgeTags(fit, reported, check) : noManager;
    case "leader":
    case "standby-leader":
    case "sync":
    case "quorum":
    case "async":
    case "liveness":
      return noManager;
  }
}

const noManager: Unfit = unfit("no_manager");

/** What every yes needs: a running database with one role, at work by a page of its own time. */
function judgeSoundness({ policy, nowMs }: ClusterView, { observation, report }: ReportedNode): Unfit | null {
  if (report.state === "stopped") return unfit("down", "database");
  if (report.state === "starting") return unfit("not_running", report.state);
  if (report.state !== "running") return unfit("unknown", report.state);
  if (report.role === "pooler") return unfit("wrong_role", report.role);
  const provenAtMs = observation.exporter?.provenAtMs ?? -Infinity;
  if (!isDatabaseAlive(observation, policy, nowMs)) {
    return provenAtMs === -Infinity
      ? unfit("unknown", "no proof")
      : unfit("stale", `${Math.round((nowMs - provenAtMs) / 1000)}s`);
  }
  return report.role === "unknown" ? unfit("unknown", "role") : null;
}
