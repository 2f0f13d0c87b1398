import type { Check } from "../check.ts";
import { aliveUntilMs, isDatabaseAlive } from "../evidence/exporter-claims.ts";
import { judgePrimary } from "./lock.ts";
import { judgeLeaderFloor } from "./wal-floor.ts";
import { judgeReadiness, judgeReplica, judgeTags } from "./replica.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { andThen, fit, orElse, unfit, unfitWithAge, validUntil, type Unfit, type Verdict } from "../verdict.ts";

/**
 * Judges a check of a node that is known through its exporter alone: plain streaming replication, repmgr,
 * pg_auto_failover. What only a cluster manager knows (the lock, synchronous and quorum standbys) is refused with
 * `no_manager`.
 */
export function judgeExporterNode(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  return andThen(judgeDatabase(view, reported), () => judgeRoute(view, reported, check));
}

function judgeRoute(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  switch (check.route) {
    case "primary":
      return andThen(judgePrimary(view, reported), () => judgeLeaderFloor(view, reported, check));
    case "replica":
      return judgeTags(judgeReplica(view, reported, check), reported, check);
    case "read-only": {
      const primary = judgePrimary(view, reported);
      const verdict = primary.fit
        ? andThen(primary, () => judgeLeaderFloor(view, reported, check))
        : orElse(primary, () => judgeReplica(view, reported, check));
      return judgeTags(verdict, reported, check);
    }
    case "health":
      return judgeTags(fit, reported, check);
    case "readiness":
      return judgeReadiness(view, reported, check);
    case "read-only-sync":
    case "read-only-quorum": {
      const primary = judgePrimary(view, reported);
      if (!primary.fit) return validUntil(noManager, primary.validUntilMs);
      const verdict = andThen(primary, () => judgeLeaderFloor(view, reported, check));
      return judgeTags(verdict, reported, check);
    }
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

/** What every yes needs: a running database with one role, which a page of metrics proves to be at work. */
function judgeDatabase({ policy, nowMs }: ClusterView, { observation, report }: ReportedNode): Verdict {
  if (report.state === "stopped") return unfit("down", "database");
  if (report.state === "starting") return unfit("not_running", report.state);
  if (report.state !== "running") return unfit("unknown", report.state);
  if (report.role === "pooler") return unfit("wrong_role", report.role);
  if (!isDatabaseAlive(observation, policy, nowMs)) {
    const provenAtMs = observation.exporter?.provenAtMs ?? -Infinity;
    return provenAtMs === -Infinity
      ? unfit("unknown", "no proof")
      : unfitWithAge("stale", `${Math.round((nowMs - provenAtMs) / 1000)}s`);
  }
  return validUntil(report.role === "unknown" ? unfit("unknown", "role") : fit, aliveUntilMs(observation, policy));
}
