import { formatPoolerAddress } from "../../core/config/values/pooler-address.ts";
import { ConsoleError } from "../../core/balancing/pgbouncer/console-error.ts";
import { inspectPgbouncers } from "../../core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { holdAdvice } from "./preflight/hold-advice.ts";
import type { PoolerFindingKind } from "./preflight/pooler-finding.ts";
import { defaultDeadlineMs, poolerFindings } from "./preflight/pooler-settings.ts";
import { knownServers } from "./preflight/pooler-setup.ts";
import { hostsOf, type InspectedPooler, resolveHosts } from "./checks/resolve-hosts.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { RuleId } from "../../core/command/result/rule-ids.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** How long a console may take for the login, and for all its answers; and a resolver for all names, in ms. */
const limitMs = 2_000;

const ruleOf: { readonly [Kind in PoolerFindingKind]: RuleId } = {
  access: "RC200",
  processes: "RC201",
  already_paused: "RC202",
  database: "RC202",
  route: "RC202",
  unlisted: "RC202",
  pool_mode: "RC203",
  version: "RC203",
  login_retry: "RC203",
  wait_timeout: "RC203",
};

/**
 * Logs in to the console of every pooler, and compares what it says with what a seamless switchover needs (RC200 to
 * RC203), and `hold_on_loss` with the failover of its clusters (RC203, RC204). Changes nothing there.
 */
export async function diagnosePoolers({ command: { result }, config, probed }: DoctorContext): Promise<void> {
  const { poolers } = config;
  if (poolers.length === 0) {
    result.cover("poolers", "not_applicable", { detail: "no pooler is configured" });
    return;
  }
  const inspected = await inspectPgbouncers(
    poolers.map(({ pgbouncer }) => pgbouncer),
    limitMs,
  );
  const usable = poolers.flatMap((pooler, at): readonly InspectedPooler[] => {
    const shown = inspected[at];
    if (shown !== undefined && !(shown instanceof ConsoleError)) return [{ pooler, shown }];
    const where = `pooler ${pooler.name}: Cannot use the console at ${formatPoolerAddress(pooler.pgbouncer.address)}`;
    result.diagnose("RC200", { message: `${where}: ${errorMessage(shown)}` });
    return [];
  });
  const servers = knownServers(probed.snapshot);
  const resolved = await resolveHosts(hostsOf(usable, servers), limitMs);
  for (const { pooler, shown } of usable)
    for (const { kind, level, subject, text, hint } of poolerFindings({
      pooler,
      shown,
      poolers,
      servers,
      resolved,
      deadlineMs: defaultDeadlineMs,
      cluster: null,
    }))
      result.diagnose(ruleOf[kind], { message: `pooler ${subject}: ${text}`, severity: level, action: hint });
  for (const { kind, pooler, text, hint } of holdAdvice(poolers, probed.snapshot.clusters))
    result.diagnose(kind === "short" ? "RC203" : "RC204", { message: `pooler ${pooler}: ${text}`, action: hint });
  const all = usable.length === poolers.length;
  const detail = `${usable.length} of ${poolers.length} answered`;
  result.cover("poolers", all ? "complete" : "incomplete", { detail });
}
