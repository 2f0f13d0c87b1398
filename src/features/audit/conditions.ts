/** Where balancers and poolers send clients elsewhere than they should, as a condition. Free of Node. */
import { type Condition, oneCase, type Case, type Found } from "../../core/health/conditions/condition.ts";
import { countText } from "../../core/health/wording.ts";
import { type RouteFinding, routeFindingBlame, routeFindingSubject } from "./core/route-finding.ts";
import { routeEnds } from "./event-kinds.ts";

/** The traffic of a node, or of a target as a whole, does not go where the verdicts say. */
export const routesDiffer = {
  id: "routes_differ",
  title: "traffic goes elsewhere than it should",
  harm: "split",
  events: {
    begins: "routes_differ",
    ends: routeEnds.routes_differ,
    severities: ["error", "warning"],
    holds: null,
    endText: (cluster: string, node: string | null) =>
      `the traffic of ${node === null ? "" : `${node} of `}${cluster} goes where it should again`,
    // The audit needs as many looks at a target as its mechanism takes.
    isFoundLate: true,
    isEndKnown: () => true,
  },
  status: { field: "routes" },
  alerts: ["RolecallMisrouted", "RolecallRoutesDiffer"],
} as const satisfies Condition;

/** What the audit has found of a cluster: one case for each node. */
export function routesFound(routes: readonly RouteFinding[]): readonly Found<"routes_differ" | "routes_agree">[] {
  if (routes.length === 0) return [];
  const byNode = new Map<string | null, RouteFinding[]>();
  for (const route of routes) {
    const known = byNode.get(route.node);
    if (known === undefined) byNode.set(route.node, [route]);
    else known.push(route);
  }
  return [...byNode].flatMap(([node, [worst, ...others]]) =>
    worst === undefined ? [] : [{ condition: routesDiffer, found: routeFound(node, worst, others.length) }],
  );
}

/** @param others how many findings there are beside the worst one */
function routeFound(node: string | null, worst: RouteFinding, others: number): Case {
  const { kind, target, backend, mechanism, command, what, sinceMs } = worst;
  const more = others === 0 ? "" : ` (and ${countText(others, "more finding")})`;
  return oneCase({
    severity: kind === "misrouted" ? "error" : "warning",
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
    level: kind,
    sinceMs,
  });
}
