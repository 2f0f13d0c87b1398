import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { attachmentInDoubt, detached, diverged, stalled } from "./attachment.ts";
import { companionDown } from "./companions.ts";
import { type Condition, type NodeSigns, rankOf } from "./condition.ts";
import { cutOff } from "./dcs.ts";
import { distrusted, drained } from "./drains.ts";
import type { NodeStanding } from "./node-standing.ts";
import { lagging } from "./pools.ts";
import { nodeDown, silentNode, unlistedNode } from "./reach.ts";
import { wedged } from "./wedged.ts";

/** A condition of a node. */
export type ConditionOfNode = Condition & { readonly ofNode: NodeSigns };

/** PostgreSQL of a node starts or stops, as that of an old primary does before it follows the new one. */
export const changingRole = {
  id: "changing_role",
  title: "PostgreSQL of a node starts or stops",
  harm: "missing",
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason, role, state, condition }) =>
      reason !== null && condition !== "drained" && isChangingRole({ role, state }),
    advice: ({ node }) => ({
      next: "it returns when its PostgreSQL runs as a replica",
      action: `Wait some seconds, then look at PostgreSQL and its log on ${node}`,
    }),
  },
  remedies: {
    demoted: "it must hold the leader lock again, or follow the new leader and be checked as a replica",
    not_running: "its PostgreSQL must run and accept connections",
  },
  alerts: [],
} as const satisfies Condition;

/** PostgreSQL of a node does not run, and its Patroni cannot start it. */
export const postgresDown = {
  id: "postgres_down",
  title: "PostgreSQL of a node does not run",
  harm: "missing",
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason, condition }) => reason === "not_running" && condition !== "drained",
    advice: ({ node }) => ({
      next: "its Patroni goes on trying to start it",
      action:
        `Look at the log of PostgreSQL on ${node}: its disk, its WAL or its configuration may keep it from starting. Before ` +
        "you build it anew, find out whether it has commits that the primary lacks",
    }),
  },
  alerts: [],
} as const satisfies Condition;

function isChangingRole({ role, state }: Pick<NodeStanding, "role" | "state">): boolean {
  return role === "demoted" || ["starting", "stopping", "restarting", "stopped"].includes(state ?? "");
}

/** The conditions of nodes, in the order of precedence: the advice on a node is that of the first one that it has. */
const signs: readonly ConditionOfNode[] = [
  wedged,
  diverged,
  unlistedNode,
  nodeDown,
  detached,
  stalled,
  lagging,
  changingRole,
  postgresDown,
  silentNode,
  attachmentInDoubt,
  cutOff,
  companionDown,
  drained,
  distrusted,
];

/** What is known of one node. */
export interface KnownNode {
  readonly standing: NodeStanding;
  readonly observation: Observation;
}

/** The worst condition that a node has; `null` if it has none of those that give advice. */
export function conditionOfNode(view: ClusterView, { standing, observation }: KnownNode): ConditionOfNode | null {
  return signs.find(({ ofNode }) => ofNode.isOf(standing, view, observation)) ?? null;
}

/** The place of a node in the order of precedence: the lowest is the worst. */
export function rankOfNode(view: ClusterView, node: KnownNode): number {
  const found = conditionOfNode(view, node);
  return rankOf(found?.ofNode.harm?.(node.standing) ?? found?.harm ?? "missing");
}

/** Since when a node has its worst condition, in ms of rolecall's clock; `null` if that is not known. */
export function sinceOfNode(view: ClusterView, { standing, observation }: KnownNode): number | null {
  const found = conditionOfNode(view, { standing, observation });
  if (found?.ofNode.sinceMs !== undefined) return found.ofNode.sinceMs(view, observation, standing);
  return isChangingRole(standing) ? observation.lastHeldAtMs : null;
}

/**
 * What counts against a node so far, though no check refuses it: that it is the primary and only looks alive, that it has
 * not answered for some seconds, a replica's attachment, that it alone does not reach the DCS, or that a companion is
 * dead. The first in the order of precedence.
 * @returns `null` if nothing does
 */
export function nodeWarning(view: ClusterView, observation: Observation): string | null {
  for (const { ofNode } of signs) {
    const warning = ofNode.warning?.(view, observation) ?? null;
    if (warning !== null) return warning;
  }
  return null;
}

/** What `explain` remarks on a node although no rule uses it; `null` if there is nothing. With its condition. */
export function nodeRemark(
  view: ClusterView,
  observation: Observation,
): { readonly condition: string; readonly text: string } | null {
  for (const { id, ofNode } of signs) {
    const text = ofNode.isRemark === true ? (ofNode.warning?.(view, observation) ?? null) : null;
    if (text !== null) return { condition: id, text };
  }
  return null;
}
