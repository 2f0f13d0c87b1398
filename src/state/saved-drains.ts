import { drainFlags, drainTextMax, extentOf, type Drain, type DrainExtent } from "../cluster/drain.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { isObject, listOf, nameOf, type JsonObject } from "../cluster/values/json.ts";
import { parseInstant } from "../cluster/values/timestamp.ts";

/** More drains than any configuration has nodes. */
const drainsMax = 10_000;

/** A drain that an earlier run saved. Its end is a wall-clock instant, the only kind that outlives a process. */
export interface SavedDrain extends Omit<Drain, "untilMs"> {
  readonly cluster: string;
  readonly node: string;
}

/** The drains of a snapshot, in the form of the state file. */
export function drainsToJson(snapshot: Snapshot): readonly object[] {
  return snapshot.clusters.flatMap((cluster) =>
    [...cluster.drains].map(([node, { reason, by, extent, since, until, isOfUpstream }]) => ({
      cluster: cluster.name,
      node,
      reason,
      by,
      ...extentToJson(extent),
      since,
      until,
      ...(isOfUpstream === true ? { of_upstream: true } : {}),
    })),
  );
}

/** Reads the section `drains` of a state file. Entries that cannot be read are left out. */
export function parseDrains(section: unknown): readonly SavedDrain[] {
  return listOf(section).slice(0, drainsMax).flatMap(parseDrain);
}

function parseDrain(value: unknown): SavedDrain[] {
  if (!isObject(value)) return [];
  const [cluster, node, reason] = [
    nameOf(value["cluster"], 128),
    nameOf(value["node"], 128),
    nameOf(value["reason"], drainTextMax),
  ];
  const [since, until] = [savedInstant(value["since"]), savedInstant(value["until"])];
  if (cluster === null || node === null || reason === null || since === null || until === null) return [];
  const by = nameOf(value["by"], drainTextMax);
  const origin = value["of_upstream"] === true ? ({ isOfUpstream: true } as const) : {};
  return [{ cluster, node, reason, by, extent: savedExtent(value), since, until, ...origin }];
}

/** `all` is what versions before the distrust of a node know: they keep such a node drained on all routes. */
function extentToJson(extent: DrainExtent): object {
  const { all, distrust } = drainFlags(extent);
  return { all, ...(distrust ? { distrust } : {}) };
}

function savedExtent({ all, distrust }: JsonObject): DrainExtent {
  return extentOf({ all: all === true, distrust: distrust === true });
}

function savedInstant(value: unknown): string | null {
  const instant = typeof value === "string" ? parseInstant(value) : undefined;
  return instant === undefined ? null : new Date(instant.atMs).toISOString();
}
