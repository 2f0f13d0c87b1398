import { companionOverviews } from "../../health/documents/companion-overview.ts";
import { countText, listText } from "../../health/documents/wording.ts";
import type { ClusterFacts, NodeFacts } from "./cluster-facts.ts";
import { type Condition, beginning } from "./condition.ts";

/** Returns the nodes beside which a companion is dead. Of a node that is down that is no news. */
export function companionConditions({ cluster, nodes, view }: ClusterFacts): readonly Condition[] {
  if (view.policy.companions === undefined) return [];
  return nodes.flatMap(({ node, isDown, observation }): readonly Condition[] => {
    const dead = isDown
      ? []
      : companionOverviews(view, observation).filter(({ name }) => observation.companions.get(name)?.isDown === true);
    if (dead.length === 0) return [];
    const names = dead.map(({ name }) => name);
    const [first] = dead;
    const failures = Math.max(...names.map((name) => observation.companions.get(name)?.failuresInRow ?? 0));
    const cause = first?.error ?? null;
    const message = `${listText(names)} beside ${node} of ${cluster} does not answer: ${cause ?? "no answer"} (${countText(failures, "check")} in a row failed)`;
    const figures = { companions: names.join(","), failures };
    return [
      {
        level: names.join(),
        begins: beginning({ kind: "companion_down", severity: "warning", cluster, node, message, cause, figures }),
      },
    ];
  });
}

/** Whether the companions of a node certainly answer: each did, at its last check. True of a node that has left. */
export function doCompanionsAnswer(nodes: readonly NodeFacts[], node: string | null): boolean {
  const known = nodes.find((each) => each.node === node);
  return [...(known?.observation.companions.values() ?? [])].every(
    ({ sentAtMs, failuresInRow, isDown }) => !isDown && failuresInRow === 0 && sentAtMs > -Infinity,
  );
}
