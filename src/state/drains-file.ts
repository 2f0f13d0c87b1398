import { drainTextMax, type Drain } from "../cluster/drain.ts";
import { isObject, listOf, nameOf } from "../cluster/values/json.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { readStateFile } from "./state-file.ts";

/** More drains than any configuration has nodes. */
const drainsMax = 10_000;

/** A drain that an earlier run wrote down: the end is a wall-clock instant, the only one that outlives a process. */
export interface RememberedDrain extends Omit<Drain, "untilMs"> {
  readonly cluster: string;
  readonly node: string;
}

/** The drains of a snapshot as they stand in the state file. */
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

/** Reads the drains that a state file holds; none where it is absent or cannot be read. */
export function readDrains(file: string): readonly RememberedDrain[] {
  return listOf(readStateFile(file).value["drains"]).slice(0, drainsMax).flatMap(remembered);
}

function remembered(value: unknown): RememberedDrain[] {
  if (!isObject(value)) return [];
  const [cluster, node, reason] = [
    nameOf(value["cluster"], 128),
    nameOf(value["node"], 128),
    nameOf(value["reason"], drainTextMax),
  ];
  const [since, until] = [instantOf(value["since"]), instantOf(value["until"])];
  if (cluster === null || node === null || reason === null || since === null || until === null) return [];
  return [{ cluster, node, reason, by: nameOf(value["by"], drainTextMax), isAll: value["all"] === true, since, until }];
}

function instantOf(value: unknown): string | null {
  return typeof value === "string" && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : null;
}
