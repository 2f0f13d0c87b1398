/** What a cluster manager says that it does not do at present. `/status` has a field for each, beside its situation. */
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { type ClusterFacts, isAnswering } from "./cluster-facts.ts";
import { dcsReach, keptWithoutDcs, lookAtDcs, prospect } from "./dcs.ts";
import { type Case, type Condition, oneCase, type Told } from "./condition.ts";
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
