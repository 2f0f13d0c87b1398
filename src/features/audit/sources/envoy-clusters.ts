import { isObject, listOf, objectOf } from "../../../core/cluster/values/json.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import type { PoolReading, ServerReading } from "../../../core/balancing/audited/reading.ts";

/** Reads `/clusters?format=json` of Envoy's admin interface, of the clusters that are named. */
export function parseEnvoyClusters(
  document: unknown,
  names: readonly string[],
  delayMs: number,
): readonly PoolReading[] {
  const statuses = objectOf(document)["cluster_statuses"];
  if (!Array.isArray(statuses))
    throw new Error("the answer must have cluster_statuses: is it Envoy's admin interface?");
  const clusters = new Map(statuses.filter(isObject).map((status) => [status["name"], status]));
  return names.map((name) => {
    const status = clusters.get(name);
    const servers =
      status === undefined
        ? null
        : listOf(status["host_statuses"])
            .filter(isObject)
            .flatMap((host) => serverOf(host, delayMs) ?? []);
    // How an Envoy chooses among endpoints is not in this document.
    return { backend: name, servers, isShared: false, leadsTo: null, closed: null, notTaken: null };
  });
}

function serverOf(host: JsonObject, delayMs: number): ServerReading | null {
  const { address, port_value: port } = objectOf(objectOf(host["address"])["socket_address"]);
  if (typeof address !== "string" || typeof port !== "number") return null;
  const at = { host: address.toLowerCase(), port };
  const stats = new Map(
    listOf(host["stats"])
      .filter(isObject)
      .map(({ name, value }) => [name, Number(value ?? 0)]),
  );
  const priority = Number(host["priority"] ?? 0);
  return {
    server: formatHostPort(at),
    address: at,
    use: isHealthy(objectOf(host["health_status"])) ? (priority > 0 ? "spare" : "takes") : "down",
    sessions: countOf(stats.get("cx_active")),
    total: Math.max(0, countOf(stats.get("cx_total")) - countOf(stats.get("cx_connect_fail"))),
    endedBytes: null,
    failed: countOf(stats.get("cx_connect_fail")),
    closed: isHealthy(objectOf(host["health_status"])) ? null : "unhealthy",
    isChecked: true,
    newestAgoMs: null,
    unchangedMs: null,
    weight: Number(host["weight"] ?? 1),
    delayMs,
  };
}

/** Whether an endpoint gets new connections: no check of Envoy failed, and nobody said that it should get none. */
function isHealthy({ eds_health_status: stated = "HEALTHY", ...flags }: JsonObject): boolean {
  return (stated === "HEALTHY" || stated === "UNKNOWN") && !Object.values(flags).includes(true);
}

function countOf(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) && count >= 0 ? count : 0;
}
