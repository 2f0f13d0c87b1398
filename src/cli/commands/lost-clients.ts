import { isObject, listOf, type JsonObject } from "../../core/cluster/values/json.ts";
import type { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { StatusCluster } from "../../core/command/client/status-types.ts";
import { safe } from "../../core/command/output/style.ts";
import { oneNodeRoutes } from "../../core/health/route.ts";
import { listText } from "../../core/health/wording.ts";

/** What an order takes a node out of. */
export type Extent = "replica" | "all" | "distrust";

/**
 * Says whose clients lose their last server if a node is taken out, as a sentence without its full stop. A drain as a
 * replica takes nothing from the node that leads.
 * @returns `null` if another node is fit wherever this one is
 */
export async function lostClients(
  server: RolecallClient,
  cluster: StatusCluster,
  { node, extent }: { readonly node: string; readonly extent: Extent },
): Promise<string | null> {
  if (extent === "replica" && cluster.leader === node) return null;
  const isTaken = (route: string): boolean =>
    route !== "liveness" && (extent !== "replica" || ![...oneNodeRoutes].some((one) => one === route));
  const own = cluster.nodes.find((one) => one.node === node)?.verdicts ?? {};
  const others = cluster.nodes.filter((one) => one.node !== node);
  const routes = Object.keys(own).filter(
    (route) => isTaken(route) && own[route] === "fit" && others.every(({ verdicts }) => verdicts[route] !== "fit"),
  );
  const pools = await poolsOf(server, cluster.cluster);
  const emptied = pools.filter((pool) => isTaken(routeOf(pool)) && isOnlyMember(pool, node));
  if (routes.length === 0 && emptied.length === 0) return null;
  const fitFor = listText(routes.length > 0 ? routes.map((route) => `/${route}`) : emptied.map(nameOf));
  const users = emptied.flatMap((pool) => listOf(pool["used_by"]).filter(isObject).map(userOf));
  const who = users.length === 0 ? "clients that are sent by these checks" : `the clients of ${listText(users)}`;
  return `${node} is the only node of ${cluster.cluster} that is fit for ${fitFor}: ${who} lose their server`;
}

/** A listener may not serve pools: then only routes are known. */
async function poolsOf(server: RolecallClient, cluster: string): Promise<readonly JsonObject[]> {
  const { pools } = await server.getObject("/pools").catch((): JsonObject => ({}));
  return listOf(pools)
    .filter(isObject)
    .filter((pool) => pool["cluster"] === cluster);
}

function isOnlyMember(pool: JsonObject, node: string): boolean {
  const fit = listOf(pool["members"])
    .filter(isObject)
    .filter((member) => member["fit"] === true);
  return fit.length === 1 && fit[0]?.["node"] === node;
}

/** The route of the check of a pool: `replica` of `/replica?lag=10MB`. */
function routeOf(pool: JsonObject): string {
  return /^\/([^?]*)/.exec(String(pool["check"]))?.[1] ?? "";
}

function nameOf(pool: JsonObject): string {
  return `pool ${safe(String(pool["pool"]))}`;
}

function userOf({ kind, name, backend }: JsonObject): string {
  return safe(`${String(kind)} ${String(name)}${typeof backend === "string" ? `/${backend}` : ""}`);
}
