/** What a cluster manager says that it does not do at present. `/status` has a field for each, beside its situation. */
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { type ClusterFacts, isAnswering } from "./cluster-facts.ts";
import { dcsReach, keptWithoutDcs, lookAtDcs, prospect } from "./dcs.ts";
import { type Case, type Condition, oneCase, type Told } from "./condition.ts";
import { isHeard } from "../evidence/node/freshness.ts";
import { foundEnds } from "./event-kinds.ts";

export const paused = {
  id: "paused",
  title: "the cluster is paused",
  harm: "intended",
  events: {
    begins: "paused",
    ends: foundEnds.paused,
    severities: ["warning"],
    holds: ({ cluster, isPaused }: ClusterFacts): readonly Case[] =>
      isPaused
        ? [oneCase({ severity: "warning", message: `${cluster} is paused: its cluster manager does not fail over` })]
        : [],
    endText: (cluster: string) => `${cluster} is no longer paused`,
    isEndKnown: isAnyAnswering,
  },
  status: { field: "paused" },
  alerts: [],
} as const satisfies Condition;

/** For how long a pause is the work of an operator, in ms. */
const forgottenMs = 3_600_000;

/** A pause that has lasted for more than an hour: it is easily forgotten, and nothing fails over meanwhile. */
export const pauseForgotten = {
  id: "pause_forgotten",
  title: "the cluster has been paused for more than an hour",
  harm: "doubtful",
  status: { condition: "warning", tell: tellForgotten },
  alerts: ["RolecallPauseForgotten"],
} as const satisfies Condition;

function tellForgotten(view: ClusterView): Told | null {
  const sinceMs = pausedSinceMs(view);
  if (sinceMs === null || view.nowMs - sinceMs < forgottenMs) return null;
  return {
    wrong: "paused",
    cause: "its cluster manager does not fail over until it is resumed",
    sinceMs,
    next: "if the primary fails, no node takes over",
    action: "Resume it when the work is done",
  };
}

/** Since when the first of the nodes that answer has said that the cluster is paused, in ms of rolecall's clock; `null`: none does. */
function pausedSinceMs(view: ClusterView): number | null {
  const sinceMs = view.cluster.nodes.flatMap((node) => (isHeard(view, node) ? (node.pausedSinceMs ?? []) : []));
  return sinceMs.length === 0 ? null : Math.min(...sinceMs);
}

/** For how long a cluster has been paused, in seconds; 0 while it is not, `null` while no node answers. */
export function pausedForS(view: ClusterView): number | null {
  if (!view.cluster.nodes.some((node) => isHeard(view, node))) return null;
  const sinceMs = pausedSinceMs(view);
  return sinceMs === null ? 0 : (view.nowMs - sinceMs) / 1_000;
}

export const failsafe = {
  id: "failsafe",
  title: "the cluster runs in failsafe mode",
  harm: "doubtful",
  events: {
    begins: "failsafe",
    ends: foundEnds.failsafe,
    severities: ["warning"],
    holds: ({ cluster, isFailsafe }: ClusterFacts): readonly Case[] => {
      const message = `${cluster} runs in failsafe mode: its primary goes on without the DCS because every member agreed`;
      return isFailsafe ? [oneCase({ severity: "warning", message, cause: "the primary cannot reach the DCS" })] : [];
    },
    endText: (cluster: string) => `${cluster} no longer runs in failsafe mode`,
    isEndKnown: isAnyAnswering,
  },
  status: { condition: "warning", tell: tellFailsafe },
  alerts: [],
} as const satisfies Condition;

function tellFailsafe(view: ClusterView): Told | null {
  // That no node reaches the DCS is another condition, which says since when.
  if (keptWithoutDcs(view) !== "failsafe" || dcsReach(view).kind === "silent") return null;
  return {
    wrong: "failsafe mode",
    cause: "the primary cannot reach the DCS, and every member agreed that it goes on",
    sinceMs: null,
    next: prospect(view, ""),
    action: lookAtDcs,
  };
}

/** Only the reports of nodes show the end of a pause or of failsafe mode. */
function isAnyAnswering({ nodes }: ClusterFacts): boolean {
  return nodes.some(({ observation }) => isAnswering(observation));
}
