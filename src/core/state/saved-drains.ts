import { drainFlags, drainMsMax, drainTextMax, extentOf, type Drain, type DrainExtent } from "../cluster/drain.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { isObject, listOf, nameOf, type JsonObject } from "../cluster/values/json.ts";
import { noBootClock, type BootClock } from "./boot-clock.ts";
import { parseInstant } from "../cluster/values/timestamp.ts";

/** More drains than any configuration has nodes. */
const drainsMax = 10_000;

/** A drain that an earlier run saved. */
export interface SavedDrain extends Omit<Drain, "untilMs"> {
  readonly cluster: string;
  readonly node: string;
  /**
   * Its end in ms of rolecall's clock, if the machine has not booted since; else `null`: then only its begin and end in
   * wall time are known, and the clock of the machine may have been set since.
   */
  readonly untilMs: number | null;
}

/**
 * For how long a saved drain is still in force, in ms; 0 or less if it is over. On another boot the wall clock decides,
 * but never for longer than the drain was begun for: a clock that was set back would keep a drain of a minute for hours.
 * @param now both clocks of the present process
 */
export function remainingOf(
  { untilMs, since, until }: Pick<SavedDrain, "untilMs" | "since" | "until">,
  now: { readonly nowMs: number; readonly wallMs: number },
): number {
  const wholeMs = Date.parse(until) - Date.parse(since);
  const leftMs = untilMs === null ? Date.parse(until) - now.wallMs : untilMs - now.nowMs;
  return Math.min(leftMs, wholeMs, drainMsMax);
}

/** The drains of a snapshot, in the form of the state file. */
export function drainsToJson(snapshot: Snapshot, { id, offsetMs }: BootClock = noBootClock): readonly object[] {
  return snapshot.clusters.flatMap((cluster) =>
    [...cluster.drains].map(([node, { reason, by, extent, untilMs, since, until, isOfUpstream }]) => ({
      cluster: cluster.name,
      node,
      reason,
      by,
      ...extentToJson(extent),
      since,
      until,
      ...(id === null ? {} : { boot: id, until_boot_ms: Math.ceil(untilMs + offsetMs) }),
      ...(isOfUpstream === true ? { of_upstream: true } : {}),
    })),
  );
}

/** Reads the section `drains` of a state file. Entries that cannot be read are left out. */
export function parseDrains(section: unknown, boot: BootClock = noBootClock): readonly SavedDrain[] {
  return listOf(section)
    .slice(0, drainsMax)
    .flatMap((value) => parseDrain(value, boot));
}

function parseDrain(value: unknown, boot: BootClock): SavedDrain[] {
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
  const untilMs = savedEnd(value, boot);
  return [{ cluster, node, reason, by, extent: savedExtent(value), untilMs, since, until, ...origin }];
}

/** `all` is what versions before the distrust of a node know: they keep such a node drained on all routes. */
function extentToJson(extent: DrainExtent): object {
  const { all, distrust } = drainFlags(extent);
  return { all, ...(distrust ? { distrust } : {}) };
}

function savedExtent({ all, distrust }: JsonObject): DrainExtent {
  return extentOf({ all: all === true, distrust: distrust === true });
}

/** The end in ms of rolecall's clock, if it was saved on this boot. */
function savedEnd({ boot, until_boot_ms: untilBootMs }: JsonObject, { id, offsetMs }: BootClock): number | null {
  return id !== null && boot === id && typeof untilBootMs === "number" ? untilBootMs - offsetMs : null;
}

function savedInstant(value: unknown): string | null {
  const instant = typeof value === "string" ? parseInstant(value) : undefined;
  return instant === undefined ? null : new Date(instant.atMs).toISOString();
}
