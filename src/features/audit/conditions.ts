/** Where balancers and poolers send clients elsewhere than they should, as a condition. Free of Node. */
import {
  type Condition,
  oneCase,
  type Case,
  type Found,
  type ToldCluster,
} from "../../core/health/conditions/condition.ts";
import { countText, listText } from "../../core/health/wording.ts";
import { type AuditedTarget, type RouteFinding, routeFindingBlame, routeFindingSubject } from "./core/route-finding.ts";
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
  status: { tellCase: tellRoute },
  alerts: ["RolecallMisrouted", "RolecallPoolUnusable", "RolecallRoutesDiffer"],
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
  const { kind, target, backend, mechanism, command, what, sinceMs, isUnusable } = worst;
  const more = others === 0 ? "" : ` (and ${countText(others, "more finding")})`;
  return oneCase({
    severity: kind === "misrouted" || isUnusable ? "error" : "warning",
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
    level: isUnusable && kind !== "misrouted" ? "unusable" : kind,
    sinceMs,
  });
}

/** What clients get of a finding, by its level. */
const levels: Readonly<Record<string, Pick<ToldCluster, "condition" | "wrong" | "harm">>> = {
  misrouted: { condition: "clients failing", wrong: "clients reach the wrong node", harm: "split" },
  unusable: { condition: "clients failing", wrong: "no client can use a pool", harm: "stuck" },
  starved: { condition: "warning", wrong: "a fit node gets no clients", harm: "missing" },
  missing: { condition: "warning", wrong: "a balancer or pooler has other servers than it should", harm: "missing" },
  unreachable: { condition: "warning", wrong: "a balancer or pooler cannot be read", harm: "doubtful" },
};

function tellRoute({ level, message, sinceMs, figures: { command } }: Case): ToldCluster {
  const told = levels[level] ?? { condition: "warning", wrong: routesDiffer.title };
  return { ...told, cause: message, sinceMs: sinceMs ?? null, next: null, action: `Run \`${command}\`` };
}

/** How many targets are named. */
const namedMax = 3;

/** At which targets the audit sees clients of a cluster where they should be. */
export function routesSeen(targets: readonly AuditedTarget[], cluster: string): readonly string[] {
  const agreeing = targets.filter(
    ({ clusters, up, unknown, findings }) =>
      up === true &&
      clusters.includes(cluster) &&
      !unknown.includes(cluster) &&
      !findings.some((finding) => finding.clusters.includes(cluster)),
  );
  if (agreeing.length === 0) return [];
  const names = agreeing.slice(0, namedMax).map(({ target }) => target);
  const more = agreeing.length - names.length;
  return [
    `as ${listText(more === 0 ? names : [...names, `${more} more`])} ${agreeing.length === 1 ? "has" : "have"} it`,
  ];
}
