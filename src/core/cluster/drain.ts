/**
 * From what a node is drained.
 *
 * - `replica`: replica routes are refused
 * - `all`: all routes are refused, the leader's included
 * - `distrust`: as `all`, and what the node states counts for nothing: its claim on the lock, its views, its positions
 */
export const drainExtents = ["replica", "all", "distrust"] as const;

export type DrainExtent = (typeof drainExtents)[number];

/** An operator's request not to use a node for a while. It expires. */
export interface Drain {
  /** Why, in the operator's words. It is shown with every verdict. */
  readonly reason: string;
  /** The operator's name as given in the request; `null` if none was given. */
  readonly by: string | null;
  readonly extent: DrainExtent;
  /** When it ends, in ms of rolecall's clock. */
  readonly untilMs: number;
  /** Begin and end in wall time, RFC 3339: for people, and to resume after a restart. */
  readonly since: string;
  readonly until: string;
  /** Set if an upstream has stated it: it ends once no upstream does. */
  readonly isOfUpstream?: true;
}

/** The extent of a drain as requests, files and pages state it. */
export interface DrainFlags {
  /** Whether all routes are refused, and not only replica routes. */
  readonly all: boolean;
  /** Whether the node is distrusted: all routes are refused, and what it states counts for nothing. */
  readonly distrust: boolean;
}

/** States an extent as flags. */
export function drainFlags(extent: DrainExtent): DrainFlags {
  return { all: extent !== "replica", distrust: extent === "distrust" };
}

/** Returns the extent that flags state. */
export function extentOf({ all, distrust }: DrainFlags): DrainExtent {
  if (distrust) return "distrust";
  return all ? "all" : "replica";
}

/** The fields of a drain for a log line. */
export function drainLogFields({ reason, by, extent, until }: Drain): {
  readonly [field: string]: string | boolean | null;
} {
  return { reason, by, ...drainFlags(extent), until };
}

/** A request for a drain that begins now and lasts `forMs` milliseconds. */
export interface DrainRequest extends Pick<Drain, "reason" | "by" | "extent"> {
  readonly forMs: number;
}

/** A drain that begins or ends. */
export interface DrainChange {
  readonly kind: "begun" | "ended" | "expired";
  readonly cluster: string;
  readonly node: string;
  readonly drain: Drain;
  /** Who ended it, in the words of the request; `null` if unknown. */
  readonly endedBy: string | null;
}

/** Whether a change of a drain outlives the process. */
export type Durability =
  /** It is on disk. */
  | { readonly kind: "durable" }
  /** No state file is configured: it is lost in a restart. */
  | { readonly kind: "volatile" }
  /** It is in force, but could not be written. */
  | { readonly kind: "failed"; readonly problem: string }
  /** It is not in force: the instance that the cluster belongs to did not accept it. */
  | { readonly kind: "refused"; readonly problem: string };

/** The longest drain, in ms: thirty days. For longer use the node's own tags. */
export const drainMsMax: number = 30 * 86_400_000;

/** The longest reason, and the longest operator name, in characters. */
export const drainTextMax = 200;
