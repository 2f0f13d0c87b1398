import type { Check } from "./check.ts";
import { isProven } from "./exporter-claims.ts";
import { holdsLock, judgePrimary } from "./lock.ts";
import { judgeReadiness, judgeReplica, judgeTags } from "./replica.ts";
import type { Sight, Witness } from "./sight.ts";
import { fit, unfit, type Unfit, type Verdict } from "./verdict.ts";

/**
 * Answers a check of a node that is known through its exporter alone: plain streaming replication, repmgr, pg_auto_failover. What only a
 * cluster manager knows (the lock, synchronous and quorum standbys) is refused with `no_manager`.
 */
export function judgeExporterNode(sight: Sight, witness: Witness, check: Check): Verdict {
  const unsound = judgeSoundness(sight, witness);
  if (unsound !== null) return unsound;
  switch (check.route) {
    case "primary":
      return judgePrimary(sight, witness);
    case "replica":
      return judgeTags(judgeReplica(sight, witness, check), witness, check);
    case "read-only":
      return judgeTags(judgePrimary(sight, witness).fit ? fit : judgeReplica(sight, witness, check), witness, check);
    case "health":
      return judgeTags(fit, witness, check);
    case "readiness":
      return holdsLock(sight, witness.observation.node.name, witness.observation.hasLock) ? fit : judgeReadiness(sight, witness, check);
    case "read-only-sync":
    case "read-only-quorum":
      return judgePrimary(sight, witness).fit ? judgeTags(fit, witness, check) : noManager;
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
function judgeSoundness({ settings, nowMs }: Sight, { observation, report }: Witness): Unfit | null {
  if (report.state === "stopped") return unfit("down", "database");
  if (report.state === "starting") return unfit("not_running", report.state);
  if (report.state !== "running") return unfit("unknown", report.state);
  if (report.role === "pooler") return unfit("wrong_role", report.role);
  const provenAtMs = observation.exporter?.provenAtMs ?? -Infinity;
  if (!isProven(observation, settings, nowMs)) {
    return provenAtMs === -Infinity ? unfit("unknown", "no proof") : unfit("stale", `${Math.round((nowMs - provenAtMs) / 1000)}s`);
  }
  return report.role === "unknown" ? unfit("unknown", "role") : null;
}
