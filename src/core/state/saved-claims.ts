import type { SavedClaim } from "../cluster/leadership.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { isObject, nameOf, type JsonObject } from "../cluster/values/json.ts";
import { lastClaimOf } from "../health/evidence/leadership/last-claim.ts";
import type { BootClock } from "./boot-clock.ts";
import type { MonitoredCluster } from "./store.ts";

/**
 * The claims of a snapshot that stood last, by cluster name, in the form of the state file. Empty if the boot is
 * unknown: then the instant means nothing to a later run.
 */
export function claimsToJson({ clusters }: Snapshot, { id, offsetMs }: BootClock): JsonObject {
  if (id === null) return {};
  const entries = clusters.flatMap((cluster) => {
    const claim = lastClaimOf(cluster);
    if (claim === null) return [];
    const { observation, api, system, atMs } = claim;
    const at = Math.floor(atMs + offsetMs);
    return [[cluster.name, { node: observation.node.name, api, system, role: "primary", boot: id, at_boot_ms: at }]];
  });
  return Object.fromEntries(entries);
}

/** Reads the section `held` of a state file. Entries that cannot be read, or are of another boot, are left out. */
export function parseClaims(held: JsonObject, { id, offsetMs }: BootClock): ReadonlyMap<string, SavedClaim> {
  return new Map(
    Object.entries(held).flatMap(([cluster, value]) => {
      if (!isObject(value) || value["role"] !== "primary") return [];
      const [node, api, boot] = [nameOf(value["node"], 128), nameOf(value["api"]), nameOf(value["boot"])];
      const bootMs = value["at_boot_ms"];
      if (node === null || api === null || boot === null || boot !== id || typeof bootMs !== "number") return [];
      return [[cluster, { node, api, system: nameOf(value["system"]), atMs: bootMs - offsetMs }] as const];
    }),
  );
}

/** Gives clusters the claims that an earlier run saved. */
export function withSavedClaims(
  monitored: readonly MonitoredCluster[],
  claims: ReadonlyMap<string, SavedClaim>,
): readonly MonitoredCluster[] {
  return monitored.map(({ cluster, policy }) => {
    const savedClaim = claims.get(cluster.name);
    return savedClaim === undefined
      ? { cluster, policy }
      : { policy, cluster: { ...cluster, leadership: { ...cluster.leadership, savedClaim } } };
  });
}
