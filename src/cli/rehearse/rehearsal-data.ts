import type { RehearsalPlan } from "./plan.ts";
import type { Rehearsed } from "./rehearsal.ts";
import type { RehearsalSummary } from "./summary.ts";

/** The plan in the result document. */
export function planData({ options, cluster, leader, pool, schema }: RehearsalPlan): object {
  const { cause } = options;
  return {
    cluster: cluster.cluster,
    scope: cluster.scope,
    kind: cause.kind,
    leader,
    candidate: cause.kind === "switchover" ? cause.candidate : null,
    pool: {
      host: options.pool.host,
      port: options.pool.port,
      database: options.pool.database,
      user: options.pool.user,
      leads_to: pool.server.address,
    },
    schema,
    write_interval_ms: options.writeIntervalMs,
    deadline_ms: options.deadlineMs,
    max_outage_ms: options.maxOutageMs,
  };
}

/** The measurements in the result document. Times count from the request, in ms; unknown ones are `null`. */
export function measuredData(
  rehearsed: Rehearsed,
  { phases, outage, tally, lateWrites, advice, names }: RehearsalSummary,
): object {
  const { recording, requestedAt, request, missing, endedAfterMs, skippedWrites, probeIntervalMs } = rehearsed;
  return {
    requested_at: requestedAt.toISOString(),
    request_problem: request.problem,
    recovered: missing === null,
    missing,
    ended_after_ms: rounded(endedAfterMs),
    outage_ms: rounded(outage?.outageMs ?? null),
    last_write_after_ms: rounded(outage === null ? null : outage.lastWriteAtMs - recording.requestedAtMs),
    phases: phases.map(({ phase, node, afterRequestMs, resolutionMs, source }) => ({
      phase,
      node,
      after_request_ms: rounded(afterRequestMs),
      resolution_ms: rounded(resolutionMs),
      source,
    })),
    writes: {
      acknowledged: tally.acknowledged,
      failed: tally.failed,
      uncertain: tally.uncertain,
      uncertain_committed: tally.uncertainPresent,
      lost: tally.lost?.length ?? null,
      lost_numbers: tally.lost,
      skipped: skippedWrites,
      by_old_primary_after_promotion: lateWrites,
      causes: tally.causes,
    },
    servers: tally.servers.map(({ address, timeline, isInRecovery, acknowledged, notAcknowledged, pids }) => ({
      address,
      node: names.get(address) ?? null,
      timeline,
      in_recovery: isInRecovery,
      acknowledged,
      not_acknowledged: notAcknowledged,
      backends: pids,
    })),
    probe_interval_ms: rounded(probeIntervalMs),
    advice,
  };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
