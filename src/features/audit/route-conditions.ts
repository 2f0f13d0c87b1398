import { type RouteFinding, routeFindingBlame, routeFindingSubject } from "./core/route-finding.ts";
import { countText } from "../../health/documents/wording.ts";
import { beginning, type Condition } from "../../events/detection/condition.ts";

/** Where balancers and poolers send the clients of a cluster elsewhere than they should: one condition for each node. */
export function routeConditions(cluster: string, routes: readonly RouteFinding[]): readonly Condition[] {
  if (routes.length === 0) return [];
  const byNode = new Map<string | null, RouteFinding[]>();
  for (const finding of routes) {
    const known = byNode.get(finding.node);
    if (known === undefined) byNode.set(finding.node, [finding]);
    else known.push(finding);
  }
  return [...byNode].flatMap(([node, [worst, ...others]]) =>
    worst === undefined ? [] : [routesDiffer(cluster, node, { worst, others: others.length })],
  );
}

/** @param others how many findings there are beside the worst one */
function routesDiffer(
  cluster: string,
  node: string | null,
  { worst, others }: { readonly worst: RouteFinding; readonly others: number },
): Condition {
  const { kind, target, backend, mechanism, command, what, sinceMs } = worst;
  const more = others === 0 ? "" : ` (and ${countText(others, "more finding")})`;
  return {
    level: kind,
    sinceMs,
    begins: beginning({
      kind: "routes_differ",
      severity: kind === "misrouted" ? "error" : "warning",
      cluster,
      node,
      message: `${routeFindingSubject(worst)} ${what}${more}`,
      cause: routeFindingBlame(kind, mechanism),
      figures: {
        finding: kind,
        target,
        ...(backend === null ? {} : { backend }),
        findings: 1 + others,
        command,
      },
    }),
  };
}
