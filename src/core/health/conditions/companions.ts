import type { Observation } from "../../cluster/observation.ts";
import { companionState, type CompanionState } from "../evidence/node/companions.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { countText, listText } from "../wording.ts";
import type { ClusterFacts, NodeFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case } from "./condition.ts";
import { foundEnds } from "./event-kinds.ts";

/** A companion of a node, for people. */
export interface CompanionOverview {
  readonly name: string;
  readonly state: CompanionState;
  /** Why its last check failed; `null` if it was answered, or none has ended. */
  readonly error: string | null;
  /** The age of its last answer; `null` if it never answered. */
  readonly age_ms: number | null;
}

/** The companions of a node, in the order of the configuration. */
export function companionOverviews(
  { policy, nowMs }: Pick<ClusterView, "policy" | "nowMs">,
  { companions }: Observation,
): readonly CompanionOverview[] {
  return (policy.companions ?? []).map(({ name }) => {
    const evidence = companions.get(name);
    const sentAtMs = evidence?.sentAtMs ?? -Infinity;
    return {
      name,
      state: companionState(evidence, policy, nowMs),
      error: evidence?.failure?.detail ?? null,
      age_ms: sentAtMs === -Infinity ? null : Math.round(nowMs - sentAtMs),
    };
  });
}

/** The companions of a node that are dead, in words; `null` if none is. Those of a node that is down are not told. */
function deadCompanionsText(view: ClusterView, observation: Observation): string | null {
  if (view.policy.companions === undefined || observation.isDown) return null;
  const dead = companionOverviews(view, observation).filter(({ state }) => state === "down");
  return dead.length === 0 ? null : `beside it does not answer: ${dead.map(textOf).join(", ")}`;
}

function textOf({ name, error }: CompanionOverview): string {
  return error === null ? name : `${name} (${error})`;
}

/** A program beside a node is dead. Of a node that is down that is no news. */
export const companionDown = {
  id: "companion_down",
  title: "a companion is dead",
  harm: "doubtful",
  events: {
    begins: "companion_down",
    ends: foundEnds.companion_down,
    severities: ["warning", "error"],
    reason: "companion",
    holds: deadCompanions,
    endText: (cluster: string, node: string | null) => `the companions of ${node} of ${cluster} answer again`,
    isEndKnown: ({ nodes }: ClusterFacts, node: string | null) => doCompanionsAnswer(nodes, node),
  },
  status: { within: "node_warned" },
  ofNode: {
    warning: deadCompanionsText,
    isOf: ({ reason, warning }, view, observation) =>
      reason === null && warning !== null && warning === deadCompanionsText(view, observation),
    advice: ({ node }) => ({
      next: "clients that connect through it, and checks that ask for it, are refused until it answers",
      action: `Look at it on ${node} and its log, and start it if it has ended; or correct its port in \`companions\``,
    }),
  },
  remedies: {
    companion: "the program beside it that the check asks for must answer: restart it, or correct its port",
  },
  alerts: ["RolecallCompanionDown", "RolecallNoCompanion"],
} as const satisfies Condition;

function deadCompanions({ cluster, nodes, view }: ClusterFacts): readonly Case[] {
  if (view.policy.companions === undefined) return [];
  return nodes.flatMap(({ node, isDown, observation }): readonly Case[] => {
    const dead = isDown
      ? []
      : companionOverviews(view, observation).filter(({ name }) => observation.companions.get(name)?.isDown === true);
    if (dead.length === 0) return [];
    const names = dead.map(({ name }) => name);
    const [lost] = names.filter((name) => isDeadEverywhere(nodes, name));
    const [first] = dead;
    const failures = Math.max(...names.map((name) => observation.companions.get(name)?.failuresInRow ?? 0));
    const cause = first?.error ?? null;
    const message = `${listText(names)} beside ${node} of ${cluster} does not answer: ${cause ?? "no answer"} (${countText(failures, "check")} in a row failed)${lost === undefined ? "" : `; ${lost} answers beside no node`}`;
    const figures = { companions: names.join(","), failures };
    const severity = lost === undefined ? "warning" : "error";
    return [oneCase({ severity, node, message, cause, figures, level: `${severity} ${names.join()}` })];
  });
}

/** Whether no node that answers has a companion of this name that does: clients that come through one have no other. */
function isDeadEverywhere(nodes: readonly NodeFacts[], name: string): boolean {
  return nodes.every(({ isDown, observation }) => isDown || observation.companions.get(name)?.isDown === true);
}

/** Whether the companions of a node certainly answer: each did, at its last check. True of a node that has left. */
function doCompanionsAnswer(nodes: readonly NodeFacts[], node: string | null): boolean {
  const known = nodes.find((each) => each.node === node);
  return [...(known?.observation.companions.values() ?? [])].every(
    ({ sentAtMs, failuresInRow, isDown }) => !isDown && failuresInRow === 0 && sentAtMs > -Infinity,
  );
}
