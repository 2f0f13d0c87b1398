import { formatLsn } from "./lsn.ts";
import type { Outcome, StatusOutcome } from "./outcome.ts";
import type { Report } from "./report.ts";

/** What one outcome contributes to a step of an incident file (docs/incidents.md): plain values, as an operator would write them. */
export interface IncidentPart {
  readonly section: "nodes" | "liveness" | "cluster" | "config" | "history";
  /** The node, where the section is by node. */
  readonly node: string | null;
  readonly value: IncidentValue;
}

export type IncidentValue = string | number | boolean | readonly IncidentValue[] | { readonly [key: string]: IncidentValue };

/** Writes an outcome down as a part of a step; `null` for what no judgement hangs on (the failsafe document). */
export function incidentPart(outcome: Outcome): IncidentPart | null {
  switch (outcome.kind) {
    case "status":
      return {
        section: "nodes",
        node: outcome.node,
        value: "failure" in outcome.result ? { failure: outcome.result.failure.kind } : reportValue(outcome.result),
      };
    case "liveness":
      return { section: "liveness", node: outcome.node, value: outcome.isAlive };
    case "document": {
      const { served, cluster, config, history } = outcome.answer;
      const of = { of: served.askedOf };
      if (cluster !== undefined) {
        const leader = cluster.leader === null ? {} : { leader: cluster.leader, ...optional("timeline", cluster.leaderTimeline) };
        return { section: "cluster", node: null, value: { ...of, ...leader } };
      }
      if (config !== undefined) return { section: "config", node: null, value: { ...of, ...configValue(config) } };
      if (history === undefined) return null;
      const points = Object.fromEntries([...history].map(([timeline, end]) => [String(timeline), formatLsn(end)]));
      return { section: "history", node: null, value: { ...of, switch_points: points } };
    }
  }
}

function configValue(config: NonNullable<Extract<Outcome, { kind: "document" }>["answer"]["config"]>): {
  readonly [key: string]: IncidentValue;
} {
  return {
    ttl: config.ttlMs / 1000,
    loop_wait: config.loopWaitMs / 1000,
    retry_timeout: config.retryTimeoutMs / 1000,
    maximum_lag_on_failover: config.lagMaxOnFailover,
    ...(config.isStandbyCluster ? { standby_cluster: true } : {}),
  };
}

/** Only what differs from an ordinary replica of version 4 is written: the fewer words, the better a person sees what was wrong. */
function reportValue({ report, hasLock }: Extract<StatusOutcome["result"], { report: Report }>): IncidentValue {
  return {
    ...(hasLock ? { lock: true } : {}),
    role: report.role,
    ...(report.state === "running" ? {} : { state: report.state }),
    ...optional("timeline", report.timeline),
    ...position("location", report.location),
    ...position("received", report.received),
    ...position("replayed", report.replayed),
    ...optional("replication_state", report.replicationState),
    ...(report.senders.length === 0
      ? {}
      : {
          senders: report.senders.map(({ name, address, state }) => ({
            name,
            ...optional("address", address),
            ...optional("state", state),
          })),
        }),
    ...(report.isSyncStandby ? { sync_standby: true } : {}),
    ...(report.isQuorumStandby ? { quorum_standby: true } : {}),
    ...(report.isFailsafe ? { failsafe: true } : {}),
    ...(report.isPaused ? { pause: true } : {}),
    ...(report.tags.size === 0 ? {} : { tags: Object.fromEntries(report.tags) }),
    ...optional("system", report.system),
    ...optional("scope", report.scope),
    ...optional("name", report.name),
    ...optional("version", report.version),
  };
}

function optional(key: string, value: string | number | null): { readonly [key: string]: string | number } {
  return value === null ? {} : { [key]: value };
}

function position(key: string, value: number | null): { readonly [key: string]: string } {
  return value === null ? {} : { [key]: formatLsn(value) };
}
