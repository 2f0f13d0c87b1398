import { aliveUntilMs, isDatabaseAlive } from "../evidence/exporter-claims.js";
import { judgePrimary } from "./lock.js";
import { judgeReadiness, judgeReplica, judgeTags } from "./replica.js";
import { andThen, fit, orElse, unfit, unfitWithAge, validUntil } from "../verdict.js";
/**
 * Judges a check of a node that is known through its exporter alone: plain streaming replication, repmgr,
 * pg_auto_failover. What only a cluster manager knows (the lock, synchronous and quorum standbys) is refused with
 * `no_manager`.
 */
export function judgeExporterNode(view, reported, check) {
    return andThen(judgeDatabase(view, reported), () => judgeRoute(view, reported, check));
}
function judgeRoute(view, reported, check) {
    switch (check.route) {
        case "primary":
            return judgePrimary(view, reported);
        case "replica":
            return judgeTags(judgeReplica(view, reported, check), reported, check);
        case "read-only":
            return judgeTags(orElse(judgePrimary(view, reported), () => judgeReplica(view, reported, check)), reported, check);
        case "health":
            return judgeTags(fit, reported, check);
        case "readiness":
            return judgeReadiness(view, reported, check);
        case "read-only-sync":
        case "read-only-quorum": {
            const primary = judgePrimary(view, reported);
            return primary.fit ? judgeTags(primary, reported, check) : validUntil(noManager, primary.validUntilMs);
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
const noManager = unfit("no_manager");
/** What every yes needs: a running database with one role, which a page of metrics proves to be at work. */
function judgeDatabase({ policy, nowMs }, { observation, report }) {
    if (report.state === "stopped")
        return unfit("down", "database");
    if (report.state === "starting")
        return unfit("not_running", report.state);
    if (report.state !== "running")
        return unfit("unknown", report.state);
    if (report.role === "pooler")
        return unfit("wrong_role", report.role);
    if (!isDatabaseAlive(observation, policy, nowMs)) {
        const provenAtMs = observation.exporter?.provenAtMs ?? -Infinity;
        return provenAtMs === -Infinity
            ? unfit("unknown", "no proof")
            : unfitWithAge("stale", `${Math.round((nowMs - provenAtMs) / 1000)}s`);
    }
    return validUntil(report.role === "unknown" ? unfit("unknown", "role") : fit, aliveUntilMs(observation, policy));
}
//# sourceMappingURL=judge-exporter.js.map