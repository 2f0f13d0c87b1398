import type { ClusterDocument } from "../documents/cluster-document.ts";
import type { StatedConfig } from "../documents/dynamic-config.ts";
import type { Report } from "../documents/report.ts";
import type { DcsResult } from "../dcs.ts";
import type { Drain } from "../drain.ts";
import {
  clusterFields,
  configDefaults,
  configFields,
  dcsFields,
  drainFields,
  reportDefaults,
  reportFields,
  type StatedCluster,
} from "../evidence/evidence-fields.ts";
import { withDefaults } from "../evidence/fields.ts";
import type { ProbeOutcome, Recorded, StatusOutcome } from "../outcome.ts";
import { formatLsn } from "../values/lsn.ts";
import { exporterValue } from "./incident-exporter.ts";
import { otherThan, type IncidentCluster, type IncidentFormat, type IncidentValue } from "./incident-yaml.ts";
import { formatOfFields, writtenFields } from "./written-fields.ts";

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
  return withDefaults(reportDefaults, {
    role: hasLock ? "primary" : "replica",
    state: "running",
    timeline: 1,
    replicationState: hasLock || isOld ? null : "streaming",
    isNoLoadBalance: false,
    system,
    scope,
    name: isOld ? null : (members.get(node) ?? node),
    version,
  });
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
      const { served, cluster, config, history, isHistoryPartial } = outcome.answer;
      const source = { of: served.source };
      if (cluster !== undefined) {
        const name = leaderName(cluster, context);
        // It is no view, and says so in a file that has no rows of members.
        if (name === null && cluster.isLeaderUnreadable)
          return { section: "views", node: served.source, value: { failure: "body" } };
        const named = { ...cluster, leader: name, leaderTimeline: name === null ? null : cluster.leaderTimeline };
        const implied = { leader: null, leaderTimeline: null, scope: cluster.scope === null ? null : context.scope };
        const value = writtenFields<StatedCluster>(clusterFields, named, implied);
        return { section: "cluster", node: null, value: { ...source, ...value } };
      }
      if (config !== undefined) {
        const value = writtenFields<StatedConfig>(configFields, config, configDefaults);
        return { section: "config", node: null, value: { ...source, ...value } };
      }
      if (history === undefined) return null;
      const points = Object.fromEntries([...history].map(([timeline, end]) => [String(timeline), formatLsn(end)]));
      const partial = otherThan("partial", isHistoryPartial === true, false);
      return { section: "history", node: null, value: { ...source, switch_points: points, ...partial } };
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
 * Returns the format that a file with this outcome has: readers refuse a file that has more than they know.
 * @param context the same as that of its entry
 */
export function incidentFormatOf(outcome: ProbeOutcome, context: IncidentCluster): IncidentFormat {
  if (outcome.kind === "status" && "report" in outcome.result) {
    const { node, result } = outcome;
    return formatOfFields(reportFields, result.report, impliedHere(node, result, context));
  }
  if (outcome.kind !== "document") return 1;
  const { config = configDefaults, isHistoryPartial = false } = outcome.answer;
  return isHistoryPartial ? 2 : formatOfFields<StatedConfig>(configFields, config, configDefaults);
}

/** What a configuration implies: its other settings are always written. */

/**
 * Writes the source and the revision as the DCS reported them. A replay only compares them with the previous ones: did
 * the source change, did the revision decrease?
 */
function dcsValue(result: DcsResult): IncidentValue {
  if ("failure" in result) return { failure: result.failure.kind };
  const { read } = result;
  // That nobody leads is what such a read is about.
  return { leader: read.leader, ...writtenFields(dcsFields, read, { hasScope: true }) };
}

function drainValue({ extent, ...drain }: Drain, atMs: number): IncidentValue {
  return {
    ...writtenFields(drainFields, { extent, ...drain, untilMs: drain.untilMs - atMs }, { by: null }),
    ...otherThan("all", extent === "all", false),
    ...otherThan("distrust", extent === "distrust", false),
  };
}

type Answer = Extract<StatusOutcome["result"], { report: Report }>;

/** Writes only what differs from what is implied. */
function reportValue(node: string, result: Answer, context: IncidentCluster): IncidentValue {
  const { report, hasLock } = result;
  const implied = impliedHere(node, result, context);
  return { ...otherThan("lock", hasLock, false), ...writtenFields(reportFields, report, implied) };
}

/** The implied report, with a start that says nothing. */
function impliedHere(node: string, { report, hasLock }: Answer, context: IncidentCluster): Report {
  const implied = impliedReport(node, hasLock, context);
  return (context.restarted?.has(node) ?? true) ? implied : { ...implied, startedAt: report.startedAt };
}
