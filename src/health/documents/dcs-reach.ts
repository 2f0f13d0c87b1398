import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard, loopWaitMs, retryTimeoutMs } from "../evidence/node/freshness.ts";
import { spanText } from "./wording.ts";

/**
 * Whether the nodes of a cluster reach the DCS, by what they state (`dcs_last_seen`). A node reads the DCS in each of
 * its loops.
 *
 * - `silent`: no node that answers and says something has reached it for longer than a loop. That takes two such nodes,
 *   or the only node: one node alone may be cut off
 * - `reached`: at least one has
 * - `unstated`: nodes answer, and none says anything
 * - `unknown`: rolecall has not seen for long enough what they state
 */
export type DcsReach =
  | { readonly kind: "reached" | "unstated" | "unknown" }
  | {
      readonly kind: "silent";
      /** Since when the last of them has stated the same, in ms of rolecall's clock. */
      readonly sinceMs: number;
      readonly nodes: readonly string[];
    };

/** How much later than its loop a node may state its contact with the DCS: a slow loop, and whole seconds. In ms. */
export const slackMs = 3_000;

/** See {@link DcsReach}. */
export function dcsReach(view: ClusterView): DcsReach {
  const nodes: string[] = [];
  let sinceMs = -Infinity;
  let isAnswered = false;
  let isReached = false;
  let isStanding = true;
  for (const node of view.cluster.nodes) {
    const { dcsContact } = node;
    if (!isHeard(view, node)) continue;
    isAnswered = true;
    if (dcsContact === null) continue;
    nodes.push(node.node.name);
    sinceMs = Math.max(sinceMs, dcsContact.statedSinceMs);
    if (isDcsOverdue(view, node)) continue;
    isStanding = false;
    isReached ||= dcsContact.formerForMs !== null;
  }
  if (nodes.length === 0) return { kind: isAnswered ? "unstated" : "unknown" };
  if (isReached) return { kind: "reached" };
  const isEnough = nodes.length > 1 || view.cluster.nodes.length === 1;
  return isStanding && isEnough ? { kind: "silent", sinceMs, nodes } : { kind: "unknown" };
}

/** Whether a node has not reached the DCS for longer than a loop, by its own statement. */
export function isDcsOverdue(view: ClusterView, node: Observation): boolean {
  return standingMs(node) >= loopWaitMs(view.cluster) + slackMs;
}

/** Whether a node reaches the DCS in each of its loops: now, and before its last contact. */
export function reachesDcsSteadily(view: ClusterView, node: Observation): boolean {
  const formerForMs = node.dcsContact?.formerForMs ?? Infinity;
  return isHeard(view, node) && formerForMs < loopWaitMs(view.cluster) + slackMs && !isDcsOverdue(view, node);
}

/** What keeps the primary although no node reaches the DCS; `null` if nothing does. */
export function keptWithoutDcs(view: ClusterView): "failsafe" | "pause" | null {
  const heard = view.cluster.nodes.filter((node) => isHeard(view, node));
  if (heard.some(({ report }) => report?.isFailsafe === true)) return "failsafe";
  return heard.some(({ report }) => report?.isPaused === true) ? "pause" : null;
}

/**
 * Says that a node has not reached the DCS for longer than a loop and its retries, though not the whole cluster has
 * lost it; else `null`.
 */
export function lostDcsText(view: ClusterView, observation: Observation): string | null {
  const { dcsContact } = observation;
  const limitMs = loopWaitMs(view.cluster) + retryTimeoutMs(view.cluster) + slackMs;
  if (dcsContact === null || standingMs(observation) < limitMs || !isHeard(view, observation)) return null;
  if (dcsReach(view).kind === "silent") return null;
  return `has not reached the DCS for ${spanText(view.nowMs - dcsContact.statedSinceMs)}`;
}

/** For how long a node has stated the same contact, up to its last report, in ms; 0 if it states none. */
function standingMs({ dcsContact, sentAtMs }: Observation): number {
  return dcsContact === null ? 0 : sentAtMs - dcsContact.statedSinceMs;
}
