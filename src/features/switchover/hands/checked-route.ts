import { oneNodeRoutes, routeOf } from "../../../core/health/route.ts";
import type { BackendCount } from "../../../core/http/message/server-census.ts";

/**
 * What the checks of balancers say about the way to a node.
 * - `leads`: every balancer that checks the primary sends new sessions to this node alone
 * - `elsewhere`: at least one does not yet
 * - `unseen`: no balancer tells the state of its servers (`http-check send-state` of HAProxy)
 */
export type CheckedRoute = "leads" | "elsewhere" | "unseen";

/** A balancer that has not sent a check for so long, in ms, does not count: HAProxy checks every few seconds. */
const seenMs = 10_000;

/**
 * Reads the way to a node from the checks that balancers sent. Servers have the names of their nodes.
 * @param sinceMs how long ago the node became the primary: older answers say nothing of it
 */
export function checkedRoute(
  rows: readonly BackendCount[],
  { cluster, node, nodes }: { readonly cluster: string; readonly node: string; readonly nodes: readonly string[] },
  sinceMs: number,
): CheckedRoute {
  const own = rows.filter(
    (row) =>
      (row.cluster === cluster || row.cluster === null) &&
      nodes.includes(row.server) &&
      row.agoMs < seenMs + sinceMs &&
      isOfPrimary(row.route),
  );
  if (own.length === 0) return "unseen";
  const leads = (row: BackendCount): boolean => row.agoMs <= sinceMs && row.takes === (row.server === node);
  const backends = [...new Set(own.map(({ backend }) => backend))];
  const areLed = backends.every((name) => {
    const newest = newestOf(own.filter(({ backend }) => backend === name));
    return newest.some(({ server }) => server === node) && newest.every(leads);
  });
  return areLed ? "leads" : "elsewhere";
}

/** Several processes answer the checks of one server: the newest counts. */
function newestOf(rows: readonly BackendCount[]): readonly BackendCount[] {
  const newest = new Map<string, BackendCount>();
  for (const row of rows) if (row.agoMs <= (newest.get(row.server)?.agoMs ?? Infinity)) newest.set(row.server, row);
  return [...newest.values()];
}

function isOfPrimary(path: string): boolean {
  const route = routeOf(path);
  return route !== undefined && oneNodeRoutes.has(route);
}
