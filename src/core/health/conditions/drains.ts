/** Nodes that an operator keeps out. The events are those of the orders (events/announced-events.ts). */
import type { Condition } from "./condition.ts";
import { orderEnds } from "./event-kinds.ts";

export const drained = {
  id: "drained",
  title: "an operator drained a node",
  harm: "intended",
  events: {
    begins: "drained",
    ends: orderEnds.drained,
    severities: ["warning"],
    reason: "drained",
    holds: null,
    endText: null,
  },
  status: { within: "kept_out" },
  ofNode: {
    isOf: ({ condition, drain }) => condition === "drained" && drain?.distrust === false,
    advice: ({ node, drain }) => drainAdvice(node, drain?.until),
  },
  remedies: { drained: "its drain must end: run rolecall drain NODE --end at each rolecall, or wait" },
  alerts: ["RolecallDrainForgotten"],
} as const satisfies Condition;

export const distrusted = {
  id: "distrusted",
  title: "an operator distrusts a node",
  harm: "intended",
  events: {
    begins: "distrusted",
    ends: orderEnds.distrusted,
    severities: ["warning"],
    holds: null,
    endText: null,
  },
  status: { within: "kept_out" },
  ofNode: {
    isOf: ({ condition, drain }) => condition === "drained" && drain?.distrust === true,
    advice: ({ node, drain }) => ({
      next: `the distrust ends at ${drain?.until}`,
      action: `Trust it when it is right: \`rolecall drain ${node} --distrust --end\``,
    }),
  },
  remedies: { distrusted: "an operator must trust it again: run rolecall drain NODE --distrust --end, or wait" },
  alerts: ["RolecallDrainForgotten"],
} as const satisfies Condition;

/** What is next of a node that an operator has drained, and what to do. @param until the end of the drain */
export function drainAdvice(
  node: string,
  until: string | undefined,
): { readonly next: string; readonly action: string } {
  return {
    next: `the drain ends at ${until}`,
    action: `Undrain it when it is done, at each rolecall: \`rolecall drain ${node} --end\``,
  };
}
