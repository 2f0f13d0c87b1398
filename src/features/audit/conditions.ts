/** Where balancers and poolers send clients elsewhere than they should, as a condition. Free of Node. */
import {
  type Condition,
  oneCase,
  type Case,
  type Found,
  type ToldCluster,
} from "../../core/health/conditions/condition.ts";
import { countText, listText } from "../../core/health/wording.ts";
import { type AuditedTarget, type RouteFinding, routeFindingBlame } from "./core/route-finding.ts";
import { routeEnds } from "./event-kinds.ts";

/** A balancer or pooler does not send clients where the verdicts say. */
export const routesDiffer = {
  id: "routes_differ",
  title: "traffic goes elsewhere than it should",
  harm: "split",
  events: {
    begins: "routes_differ",
    ends: routeEnds.routes_differ,
    severities: ["error", "warning"],
    holds: null,
    keyFigure: "target",
    endText: (cluster: string, _node: string | null, target: string) =>
      `${target} is as it should be for ${cluster} again`,
    // The audit needs as many looks at a target as its mechanism takes.
    isFoundLate: true,
    isEndKnown: () => true,
  },
  status: { tellCase: tellRoute },
  alerts: ["RolecallMisrouted", "RolecallPoolUnusable", "RolecallBalancerUnread", "RolecallRoutesDiffer"],
} as const satisfies Condition;

/** How many findings of a target an event words, and how many nodes it names in a figure. */
const wordedMax = 3;
const nodesMax = 20;

/**
 * What the audit has found of a cluster: one case for each target, which is a balancer or pooler, however many of its
 * servers and of the nodes it is about.
 * @param routes the worst first
 */
export function routesFound(routes: readonly RouteFinding[]): readonly Found<"routes_differ" | "routes_agree">[] {
  const byTarget = new Map<string, RouteFinding[]>();
  for (const route of routes) {
    const known = byTarget.get(route.target);
    if (known === undefined) byTarget.set(route.target, [route]);
    else known.push(route);
  }
  return [...byTarget.values()].flatMap((findings) => {
    const [worst] = findings;
    return worst === undefined ? [] : [{ condition: routesDiffer, found: routeFound(worst, findings) }];
  });
}

function routeFound(worst: RouteFinding, findings: readonly RouteFinding[]): Case {
  const { kind, target, backend, mechanism, command } = worst;
  const worded = findings.slice(0, wordedMax).map(({ what, ...one }) => `${placeOf(one)}${what}`);
  const more = findings.length - worded.length;
  const nodes = [...new Set(findings.flatMap(({ node }) => node ?? []))];
  const [only = null] = nodes;
  const isUnusable = findings.some((one) => one.isUnusable);
  return oneCase({
    severity: kind === "misrouted" || isUnusable ? "error" : "warning",
    about: [target],
    // The node that it is about, if it is about one.
    node: nodes.length === 1 ? only : null,
    message: `${target} ${worded.join("; ")}${more === 0 ? "" : ` (and ${countText(more, "more finding")})`}`,
    cause: routeFindingBlame(kind, mechanism),
    figures: {
      finding: kind,
      target,
      ...(backend === null ? {} : { backend }),
      ...(nodes.length === 0 ? {} : { nodes: nodes.slice(0, nodesMax).join(",") }),
      findings: findings.length,
      // Of those that make it so grave.
      ...(findings.every((one) => one.isOfReads === true || !isGrave(one)) ? { clients: "reads" } : {}),
      command,
    },
    level: isUnusable && kind !== "misrouted" ? "unusable" : kind,
    sinceMs: Math.min(...findings.filter((one) => one.kind === kind).map(({ sinceMs }) => sinceMs)),
  });
}

/** Whether clients fail by it. */
function isGrave({ kind, isUnusable }: RouteFinding): boolean {
  return kind === "misrouted" || isUnusable;
}

/** Where in the target a finding is, before what differs there. */
function placeOf({ backend, server }: Pick<RouteFinding, "backend" | "server">): string {
  if (backend === null) return "";
  return server === null ? `${backend} ` : `${backend}/${server} `;
}

/** What clients get of a finding, by its level. */
const levels: Readonly<Record<string, Pick<ToldCluster, "condition" | "wrong" | "harm">>> = {
  misrouted: { condition: "clients failing", wrong: "clients reach the wrong node", harm: "split" },
  unusable: { condition: "clients failing", wrong: "no client can use a pool", harm: "stuck" },
  starved: { condition: "warning", wrong: "a fit node gets no clients", harm: "missing" },
  missing: { condition: "warning", wrong: "a balancer or pooler has other servers than it should", harm: "missing" },
  unreachable: { condition: "warning", wrong: "a balancer or pooler cannot be read", harm: "doubtful" },
};

function tellRoute({ level, message, sinceMs, figures: { command, clients, target } }: Case): ToldCluster {
  const told = levels[level] ?? { condition: "warning", wrong: routesDiffer.title };
  const harm = clients === "reads" && told.condition === "clients failing" ? { harm: "missing" as const } : {};
  const action = routeAction(level, { target: String(target), command: String(command) });
  return { ...told, ...harm, cause: message, sinceMs: sinceMs ?? null, next: null, action };
}

/** What to do about a finding. A whole clause without a full stop. @param level the level of its case */
export function routeAction(level: string, { target, command }: Pick<RouteFinding, "target" | "command">): string {
  // Somebody may have closed it on purpose.
  if (/state ready|weight 100%|RESUME|ENABLE/.test(command))
    return `Unless somebody has closed it on purpose, run \`${command}\``;
  if (level !== "unreachable") return `Run \`${command}\``;
  return `Look whether the process of ${target} runs: if it is dead, its clients are refused. If it runs, run \`${command}\``;
}

/** How many targets are named. */
const namedMax = 3;

/** At which targets the audit sees clients of a cluster where they should be. */
export function routesSeen(targets: readonly AuditedTarget[], cluster: string): readonly string[] {
  const agreeing = targets.filter(
    ({ clusters, up, unknown, findings, suspected }) =>
      up === true &&
      clusters.includes(cluster) &&
      !unknown.includes(cluster) &&
      ![...findings, ...suspected].some((finding) => finding.clusters.includes(cluster)),
  );
  if (agreeing.length === 0) return [];
  const names = agreeing.slice(0, namedMax).map(({ target }) => target);
  const more = agreeing.length - names.length;
  return [
    `as ${listText(more === 0 ? names : [...names, `${more} more`])} ${agreeing.length === 1 ? "has" : "have"} it`,
  ];
}
