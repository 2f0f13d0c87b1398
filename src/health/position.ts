import type { Observation } from "../cluster/observation.ts";
import type { Report } from "../cluster/report.ts";
import type { ClusterPart, LeaderPosition } from "../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import type { Settings } from "./settings.ts";
import { newestTestimony } from "./testimony.ts";

/**
 * Moves the cluster's highest leader position on by one report (design.md, rule 4). The holder's own position counts;
 * one on another system or timeline starts anew. While a cluster document names a leader that does not answer, what
 * other replicas received on its timeline counts too, or a dead leader would make them all look caught up.
 */
export function advancePosition(part: ClusterPart, seen: SeenReport, settings: Settings): LeaderPosition | null {
  const { observation, isHolder, nowMs } = seen;
  const { position } = part;
  const report = observation.report;
  if (report === null) return position;
  if (isHolder) return raise(position, { ...pairOf(report), highest: writtenBy(report) });
  const timeline = darkLeader(part, settings, nowMs)?.timeline ?? null;
  return timeline === null ? position : raiseByReceived(position, report, timeline);
}

/** What the replicas had already received when a document names a leader that does not answer. */
export function positionOfDarkLeader(part: ClusterPart, settings: Settings, nowMs: number): LeaderPosition | null {
  const timeline = darkLeader(part, settings, nowMs)?.timeline ?? null;
  if (timeline === null) return part.position;
  const maxAge = maxAgeMs(part, settings);
  const reports = part.nodes.flatMap((node) => (node.report !== null && isFresh(node, maxAge, nowMs) ? [node.report] : []));
  return reports.reduce((position, report) => raiseByReceived(position, report, timeline), part.position);
}

/** A report as it was just observed. */
export interface SeenReport {
  readonly observation: Observation;
  readonly isHolder: boolean;
  readonly nowMs: number;
}

/**
 * How far the node's replay is behind the leader, in bytes. Negative is zero only on the leader's own timeline: being
 * ahead of a leader on another one is no lead.
 * @param reached the position to compare: `replayed`, or `received` where only the write counts
 * @returns `null` when no leader position was ever seen or the node states none
 */
export function lagBytes(part: ClusterPart, observation: Observation, reached: "replayed" | "received" = "replayed"): number | null {
  const leader = observation.leaderPosition ?? part.position?.highest ?? null;
  const { report } = observation;
  const at = report?.[reached] ?? null;
  if (report === null || leader === null || at === null) return null;
  if (leader >= at) return leader - at;
  return part.position !== null && report.timeline === part.position.timeline ? 0 : null;
}

/** Whether the report says where its node is in the WAL; that of a node whose own query failed does not. */
export function statesPosition({ location, received, replayed }: Report): boolean {
  return location !== null || received !== null || replayed !== null;
}

/** The word of a replica of another system counts for nothing here, whatever its timeline's number. */
function raiseByReceived(position: LeaderPosition | null, report: Report, timeline: number): LeaderPosition | null {
  const isForeign = position !== null && position.system !== null && report.system !== null && report.system !== position.system;
  if (report.timeline !== timeline || report.received === null || isForeign) return position;
  return raise(position, { ...pairOf(report), highest: report.received });
}

function pairOf(report: Report): Pick<LeaderPosition, "system" | "timeline"> {
  return { system: report.system, timeline: report.timeline };
}

/** A standby leader writes nothing of its own: what it has received or replayed is all there is to follow. */
function writtenBy(report: Report): number | null {
  if (report.location !== null) return report.location;
  return report.received === null && report.replayed === null ? null : Math.max(report.received ?? 0, report.replayed ?? 0);
}

function raise(known: LeaderPosition | null, seen: Omit<LeaderPosition, "highest"> & { highest: number | null }): LeaderPosition | null {
  const { highest } = seen;
  if (highest === null) return known;
  if (known === null || known.system !== seen.system || known.timeline !== seen.timeline) return { ...seen, highest };
  return highest > known.highest ? { ...known, highest } : known;
}

/**
 * Whether the leader may have moved on unseen: a document names one that does not answer, or it answers without positions.
 */
export function isLeaderDark(part: ClusterPart, settings: Settings, nowMs: number): boolean {
  const holder = part.holder === null ? undefined : part.nodes[part.index.get(part.holder) ?? -1];
  const isMute = holder !== undefined && holder.report !== null && !statesPosition(holder.report);
  return isMute || darkLeader(part, settings, nowMs) !== null;
}

/**
 * A leader that the newest cluster document names and that does not answer; `null` while one answers, or none is named.
 * Its position may have moved on unseen.
 */
function darkLeader(part: ClusterPart, settings: Settings, nowMs: number): { readonly timeline: number | null } | null {
  const newest = newestTestimony(part);
  const leader = newest === undefined ? undefined : part.nodes.find(({ node }) => node.member === newest.leader);
  if (newest === undefined || leader === undefined) return null;
  const answers = leader.failuresInRow === 0 && isFresh(leader, maxAgeMs(part, settings), nowMs);
  return answers ? null : { timeline: newest.timeline ?? part.position?.timeline ?? null };
}
