import { drainTextMax, type Drain } from "../cluster/drain.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { isObject, listOf, nameOf } from "../cluster/values/json.ts";
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
    [...cluster.drains].map(([node, { reason, by, isAll, since, until }]) => ({
      cluster: cluster.name,
      node,
      reason,
      by,
      all: isAll,
      since,
      until,
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
  return [{ cluster, node, reason, by: nameOf(value["by"], drainTextMax), isAll: value["all"] === true, since, until }];
}

function savedInstant(value: unknown): string | null {
  const instant = typeof value === "string" ? parseInstant(value) : undefined;
  return instant === undefined ? null : new Date(instant.atMs).toISOString();
}
