import type { StatedConfig } from "../documents/dynamic-config.ts";
import type { ClusterDocument } from "../documents/cluster-document.ts";
import type { DcsResult } from "../dcs.ts";
import type { Drain } from "../drain.ts";
import { exporterValue } from "./incident-exporter.ts";
import { incidentDuration, otherThan, position, type IncidentCluster, type IncidentValue } from "./incident-yaml.ts";
import { formatLsn } from "../values/lsn.ts";
import { writtenTags } from "../values/tags.ts";
import type { Recorded, StatusOutcome } from "../outcome.ts";
import { reportDefaults, type Report } from "../documents/report.ts";

/** The entry for one outcome in a step of an incident file (docs/incidents.md). */
export interface IncidentEntry {
  readonly section:
    "nodes" | "liveness" | "exporters" | "companions" | "views" | "cluster" | "config" | "history" | "drains" | "dcs";
  /** The node, if the section is keyed by node. */
  readonly node: string | null;
  readonly value: IncidentValue;
}

/**
 * The report that an incident file implies where it states nothing: a leader, or a streaming replica, on timeline 1 at
 * unknown positions. The file states only what differs from it.
 */
export function impliedReport(node: string, hasLock: boolean, cluster: IncidentCluster): Report {
  const { scope, system, version, members } = cluster;
  // Patroni before version 4 states neither the name nor the replication state.
  const isOld = Number.parseInt(version ?? "4", 10) < 4;
  return {
    role: hasLock ? "primary" : "replica",
    state: "running",
    timeline: 1,
    location: null,
    received: null,
    replayed: null,
    replicationState: hasLock || isOld ? null : "streaming",
    senders: [],
    ...reportDefaults,
    system,
    scope,
    name: isOld ? null : (members.get(node) ?? node),
    version,
    document: "{}",
  };
}

/**
 * Converts an outcome to an entry of an incident step.
 * @param recorded the outcome, and when it was recorded, in ms of rolecall's clock
 * @returns `null` for an outcome that no verdict depends on (the failsafe document)
 */
export function incidentEntry(
  { outcome, atMs }: Omit<Recorded, "atWallMs">,
  context: IncidentCluster,
): IncidentEntry | null {
  switch (outcome.kind) {
    case "status":
      return {
        section: "nodes",
        node: outcome.node,
        value:
          "failure" in outcome.result
            ? { failure: outcome.result.failure.kind }
            : reportValue(outcome.node, outcome.result, context),
      };
    case "liveness":
      return { section: "liveness", node: outcome.node, value: outcome.isAlive };
    case "exporter":
      return { section: "exporters", node: outcome.node, value: exporterValue(outcome.result, context) };
    case "companion": {
      const { companion, failure } = outcome;
      return {
        section: "companions",
        node: outcome.node,
        value: { [companion]: failure?.kind ?? "answered" },
      };
    }
    case "view_failure":
      return { section: "views", node: outcome.node, value: { failure: outcome.failure.kind } };
    case "dcs":
      return { section: "dcs", node: null, value: dcsValue(outcome.result) };
    case "drain":
      return {
        section: "drains",
        node: outcome.node,
        value: outcome.drain === null ? null : drainValue(outcome.drain, atMs),
      };
    case "document": {
      const { served, cluster, config, history } = outcome.answer;
      const source = { of: served.source };
      if (cluster !== undefined) {
        const name = leaderName(cluster, context);
        // It is no view, and says so in a file that has no rows of members.
        if (name === null && cluster.isLeaderUnreadable)
          return { section: "views", node: served.source, value: { failure: "body" } };
        const leader = name === null ? {} : { leader: name, ...otherThan("timeline", cluster.leaderTimeline, null) };
        const scope = cluster.scope === null ? {} : otherThan("scope", cluster.scope, context.scope);
        return { section: "cluster", node: null, value: { ...source, ...leader, ...scope } };
      }
      if (config !== undefined) return { section: "config", node: null, value: { ...source, ...configValue(config) } };
      if (history === undefined) return null;
      const points = Object.fromEntries([...history].map(([timeline, end]) => [String(timeline), formatLsn(end)]));
      return { section: "history", node: null, value: { ...source, switch_points: points } };
    }
  }
}

/**
 * Returns the leader's name for an incident file. If no member has the name that the cluster document gives, it returns
 * the member at the leader's address, because incident files have no addresses by which a replay could find the leader.
 */
function leaderName({ leader, leaderApi }: ClusterDocument, { members, memberAt }: IncidentCluster): string | null {
  if (leader === null) return leaderApi === null ? null : (memberAt?.get(leaderApi) ?? null);
  if (leaderApi === null) return leader;
  const isMember = [...members].some(([node, member]) => leader === node || leader === member);
  return isMember ? leader : (memberAt?.get(leaderApi) ?? leader);
}

/**
 * Writes the source and the revision as the DCS reported them. A replay only compares them with the previous ones: did
 * the source change, did the revision decrease?
 */
function dcsValue(result: DcsResult): IncidentValue {
  if ("failure" in result) return { failure: result.failure.kind };
  const { leader, source, revision, hasScope } = result.read;
  return { leader, revision, source, ...otherThan("empty", !hasScope, false) };
}

function drainValue({ reason, by, extent, untilMs }: Drain, atMs: number): IncidentValue {
  return {
    for: incidentDuration(untilMs - atMs),
    reason,
    ...otherThan("by", by, null),
    ...otherThan("all", extent === "all", false),
    ...otherThan("distrust", extent === "distrust", false),
  };
}

/** Settings that could not be read are left out. */
function configValue(config: StatedConfig): { readonly [key: string]: IncidentValue } {
  const { lagMaxOnFailover } = config;
  return {
    ...seconds("ttl", config.ttlMs),
    ...seconds("loop_wait", config.loopWaitMs),
    ...seconds("retry_timeout", config.retryTimeoutMs),
    ...(lagMaxOnFailover === undefined ? {} : { maximum_lag_on_failover: lagMaxOnFailover }),
    ...(config.isStandbyCluster === true ? { standby_cluster: true } : {}),
  };
}

function seconds(key: string, ms: number | undefined): { readonly [key: string]: IncidentValue } {
  return ms === undefined ? {} : { [key]: ms / 1000 };
}

/** Writes only what differs from `impliedReport`. */
function reportValue(
  node: string,
  { report, hasLock }: Extract<StatusOutcome["result"], { report: Report }>,
  context: IncidentCluster,
): IncidentValue {
  const implied = impliedReport(node, hasLock, context);
  return {
    ...otherThan("lock", hasLock, false),
    ...otherThan("role", report.role, implied.role),
    ...otherThan("state", report.state, implied.state),
    ...otherThan("timeline", report.timeline, implied.timeline),
    ...position("location", report.location),
    ...position("received", report.received),
    ...position("replayed", report.replayed),
    ...otherThan("replication_state", report.replicationState, implied.replicationState),
    ...(report.senders.length === 0 ? {} : { senders: report.senders.map(senderValue) }),
    ...otherThan("sync_standby", report.isSyncStandby, false),
    ...otherThan("quorum_standby", report.isQuorumStandby, false),
    ...otherThan("failsafe", report.isFailsafe, false),
    ...otherThan("pause", report.isPaused, false),
    ...otherThan("dcs_last_seen", report.dcsSeen, null),
    ...(report.tags.size === 0 ? {} : { tags: writtenTags(report.tags) }),
    ...otherThan("system", report.system, implied.system),
    ...otherThan("scope", report.scope, implied.scope),
    ...otherThan("name", report.name, implied.name),
    ...otherThan("version", report.version, implied.version),
    ...(report.unreadable.length === 0 ? {} : { unreadable: report.unreadable }),
  };
}

/** A streaming standby without an address is written as its name alone. */
function senderValue({ name, address, state }: Report["senders"][number]): IncidentValue {
  if (address === null && state === "streaming") return name;
  return { name, ...otherThan("address", address, null), ...otherThan("state", state, "streaming") };
}
