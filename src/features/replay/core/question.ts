import { nodeNamed } from "../../../core/cluster/lookup.ts";
import { ofKnownCompanions, ofWholeCluster, parseCheck, type Check } from "../../../core/health/check.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { judgeMember, judgePool } from "../../../core/health/rules/pool.ts";
import { routeOf, routePaths } from "../../../core/health/route.ts";
import { statusOf } from "../../../core/health/verdict-status.ts";
import type { IncidentFile } from "../file/incident-file.ts";

/** The requested check of one node, or of the whole cluster (`null`). */
export interface Question {
  readonly node: string | null;
  readonly check: Check;
}

/**
 * Reads `pg2 /replica?lag=1MB`, or `/primary` for the whole cluster.
 * @throws Error that names what is invalid
 */
export function parseQuestion(text: string, { nodes, policy }: Pick<IncidentFile, "nodes" | "policy">): Question {
  const [first = "", second] = text.split(" ");
  const [node, target] = second === undefined ? [null, first] : [first, second];
  if (node !== null && nodes.every(({ name }) => name !== node))
    throw new Error(`Cannot check ${text}: the node must be one of the file, got ${node}`);
  const [path = "", query = ""] = target.split("?", 2);
  const route = routeOf(path.replace(/^\//, ""));
  if (route === undefined)
    throw new Error(`Cannot check ${text}: the route must be one of ${routePaths().join(", ")}, got ${path}`);
  const rules = { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 2 * policy.intervalMs };
  const known = policy.companions?.map(({ name }) => name) ?? [];
  const read = ofKnownCompanions(parseCheck(route, query, rules), known);
  const parsed = node === null ? ofWholeCluster(read) : read;
  if (parsed.ok) return { node, check: parsed.check };
  const { subject, allowed, value } = parsed.problem;
  throw new Error(`Cannot check ${text}: ${subject} must be ${allowed}, got ${value}`);
}

/**
 * The accepted spellings of the answer: `lagging`, `503 lagging`. For a positive answer also `fit`, or `degraded`. For
 * a whole cluster also `fit pg1`, for open sessions also `200 stale`.
 */
export function answerTo(view: ClusterView, { node, check }: Question): readonly string[] {
  const observation = nodeNamed(view.cluster, node);
  const { verdict, chosen } =
    observation === undefined
      ? judgePool(view, check)
      : { verdict: judgeMember(view, observation, check), chosen: null };
  if (!verdict.fit) return [verdict.reason, `${statusOf(verdict, check)} ${verdict.reason}`];
  if (verdict.passedOver !== null) return ["degraded", `200 ${verdict.passedOver.reason}`];
  if (verdict.isDegraded) return ["degraded", ...(chosen === null ? [] : [`degraded ${chosen.node.name}`])];
  return ["fit", "200 fit", ...(chosen === null ? [] : [`fit ${chosen.node.name}`])];
}
