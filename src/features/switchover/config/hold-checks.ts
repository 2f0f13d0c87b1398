import { elementsOf, valid } from "../../../core/config/checks/valid-parts.ts";
import { type ConfigIssue, valueIssue } from "../../../core/config/model/issue.ts";
import { poolerSchema } from "../../../core/config/schema/pooler-schema.ts";

/**
 * Checks `hold_on_loss` of the poolers against each other and against `state_file`: one run holds the clients of all poolers
 * of a cluster, with one limit, and what it pauses is on the disk before.
 */
export function checkHolds({
  poolers,
  state_file: stateFile,
}: Readonly<Record<string, unknown>>): readonly ConfigIssue[] {
  const placed = elementsOf(poolers).flatMap((element, index) => {
    const pooler = valid(poolerSchema, element);
    return pooler === null || pooler.holdOnLossMs === null
      ? []
      : [{ ...pooler, holdMs: pooler.holdOnLossMs, path: ["poolers", index] as const }];
  });
  return placed.flatMap(({ holdMs, holdEnd, databases, path }, at): readonly ConfigIssue[] => {
    const limit = [...path, "hold_on_loss"];
    if (typeof stateFile !== "string")
      return [
        valueIssue(
          limit,
          textOf(holdMs),
          "left out where state_file is not set, because nothing may be paused without it",
        ),
      ];
    const clusters = new Set(databases.map(({ cluster }) => cluster));
    const first = placed.slice(0, at).find((other) => other.databases.some(({ cluster }) => clusters.has(cluster)));
    if (first === undefined) return [];
    if (first.holdMs !== holdMs)
      return [valueIssue(limit, textOf(holdMs), `${textOf(first.holdMs)}, as another pooler of the cluster has it`)];
    if (first.holdEnd !== holdEnd)
      return [valueIssue([...path, "hold_end"], holdEnd, `${first.holdEnd}, as another pooler of the cluster has it`)];
    return [];
  });
}

function textOf(ms: number): string {
  return `${ms / 1_000}s`;
}
