import { plainCheck } from "../../../core/health/check.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { validViews } from "../../../core/health/evidence/leadership/leader-views.ts";
import { judgeMember } from "../../../core/health/rules/pool.ts";
import type { Report } from "../../../core/cluster/documents/report.ts";
import type { FinishIntent, PrimaryEvidence } from "../intent/pause-intent.ts";

/** The node that `/primary` says yes to; `null` if there is none. */
export function servingPrimary(view: ClusterView | null): string | null {
  const found = view?.cluster.nodes.find((observation) => judgeMember(view, observation, plainCheck("primary")).fit);
  return found?.node.name ?? null;
}

/**
 * The node that rolecall says yes to, where the old leader counts only by a report of its PostgreSQL that was asked for after
 * the loss, and that states a position: while it recovers from a crash, its cluster manager says that it leads.
 * @param sinceMs when the loss was seen, in ms of rolecall's clock
 */
export function primaryAfterLoss(view: ClusterView | null, leader: string, sinceMs: number): string | null {
  const name = servingPrimary(view);
  if (view === null || name !== leader) return name;
  const found = view.cluster.nodes.find(({ node }) => node.name === name);
  return found !== undefined && found.sentAtMs >= sinceMs && servesNow(found.report) ? name : null;
}

function servesNow(report: Report | null): boolean {
  return report !== null && report.state === "running" && report.role === "primary" && report.location !== null;
}

/**
 * The primary that a process may lead clients to that has not followed the cluster before: rolecall says yes to it, it is of
 * the same system, its timeline is not lower, and another node names it. A node that answers alone may be a clone.
 * @param start why the run began: after a loss the leader has to state a position
 * @param leader the primary at the start of the run, which needs no other node
 * @returns `null` if there is none
 */
export function provenPrimary(
  view: ClusterView | null,
  { systemIdentifier, timeline }: PrimaryEvidence,
  { leader, start }: Pick<FinishIntent, "leader" | "start">,
): string | null {
  const name = start === "loss" ? primaryAfterLoss(view, leader, -Infinity) : servingPrimary(view);
  if (view === null || name === null || name === leader) return name;
  const report = view.cluster.nodes.find(({ node }) => node.name === name)?.report;
  if (report === undefined || report === null) return null;
  if (systemIdentifier !== null && report.system !== systemIdentifier) return null;
  if (timeline !== null && (report.timeline ?? -1) < timeline) return null;
  const views = validViews(view.cluster, view.policy, view.nowMs);
  return views.some(({ witness, names }) => witness !== name && names === name) ? name : null;
}

/** What a new primary of a cluster has to have, by what is known of the present one. */
export function evidenceOf({ cluster }: ClusterView, leader: string): PrimaryEvidence {
  const report = cluster.nodes.find(({ node }) => node.name === leader)?.report ?? null;
  return { systemIdentifier: report?.system ?? null, timeline: report?.timeline ?? null };
}
