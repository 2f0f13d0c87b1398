import { isObject, listOf, type JsonObject } from "../../core/cluster/values/json.ts";
import type { RolecallClient } from "../../core/command/client/rolecall-client.ts";

/**
 * Says at which rolecalls a drain of a node is in force: an order at one rolecall reaches the others only through a
 * fleet, or where they follow it (docs/fleet.md).
 * @param server the rolecall that has taken the order, by its admin listener
 * @returns a line without its end
 */
export async function drainReach(server: RolecallClient, cluster: string): Promise<string> {
  const edges = await server.getObject("/edges").catch((): JsonObject => ({}));
  const { fleet, followers } = edges;
  if (isObject(fleet)) return `at ${server.url}, and at each member of the fleet that shares ${cluster}`;
  // A listener that is bound to a cluster does not say it, nor does an older server.
  if (fleet === undefined && followers === undefined)
    return `at ${server.url}: other rolecalls know it only if they follow this one or share a fleet with it`;
  const count = listOf(followers).length;
  return count === 0
    ? `at ${server.url} only: other rolecalls do not know it, repeat this at each (--server)`
    : `at ${server.url} and those that follow it (${count} now): others do not know it, repeat this at each (--server)`;
}
