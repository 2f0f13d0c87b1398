import type { Observation } from "../../cluster/observation.ts";
import { companionState, type CompanionState } from "../evidence/node/companions.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";

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
export function deadCompanionsText(view: ClusterView, observation: Observation): string | null {
  if (view.policy.companions === undefined || observation.isDown) return null;
  const dead = companionOverviews(view, observation).filter(({ state }) => state === "down");
  return dead.length === 0 ? null : `beside it does not answer: ${dead.map(textOf).join(", ")}`;
}

function textOf({ name, error }: CompanionOverview): string {
  return error === null ? name : `${name} (${error})`;
}
