import type { SimulatorObject } from "./json.ts";

/** What a node's API says its database does (reference/node-api.md, status document): those that the model passes through. */
export type NodeState = "running" | "starting" | "stopping" | "stopped" | "restarting" | "creating replica";

/** What a node's API says its database is. */
export type Role = "primary" | "replica" | "demoted" | "standby_leader";

/** A change under way and when it ends; nothing else may start on this node until then. */
export interface Motion {
  readonly kind:
    "handing over" | "demoting" | "demoted" | "starting" | "promoting" | "restarting" | "wiping" | "copying";
  readonly endsAtMs: number;
}

/** How the node's API misbehaves while the node itself goes on. */
export type ApiFault =
  | { readonly kind: "none" }
  | { readonly kind: "hang" }
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "garbage"; readonly style: GarbageStyle };

/** Which nonsense the API answers: cut-off JSON, bytes that are not HTTP, a web page, a document of 16 MiB. */
export type GarbageStyle = "json" | "http" | "html" | "huge";

/** Why a parameter waits for a restart. */
export interface PendingParameter {
  readonly old_value: string;
  readonly new_value: string;
}

/** What a node last wrote about itself into the configuration store: the member list is made of these. */
export interface MemberKey {
  readonly writtenAtMs: number;
  readonly state: NodeState;
  readonly timeline: number | undefined;
  readonly replicationState: string | undefined;
  readonly location: number | undefined;
  readonly received: number | undefined;
  readonly replayed: number | undefined;
  readonly pendingRestart: ReadonlyMap<string, PendingParameter>;
  readonly scheduledRestart: ScheduledRestart | undefined;
}

/** A restart to come: when, and the filters it was asked with. */
export interface ScheduledRestart {
  readonly atMs: number;
  readonly filters: SimulatorObject;
}

/** One simulated node: its process, its database and what is wrong with them. */
export interface SimulatedNode {
  readonly name: string;
  readonly databasePort: number;
  readonly tags: SimulatorObject;
  apiUrl: string;
  alive: boolean;
  frozenAtMs: number | undefined;
  api: ApiFault;
  detachedAtMs: number | undefined;
  /** How far replay stays behind the leader; Infinity: replay stands still. */
  lagBytes: number | undefined;
  state: NodeState;
  role: Role;
  timeline: number;
  /** The node it streams from. */
  following: string | undefined;
  /** End of the WAL written (primary) or received (replica), in bytes. */
  receivedLsn: number;
  replayedLsn: number;
  replayedAtMs: number | undefined;
  startedAtMs: number;
  motion: Motion | undefined;
  lastLoopAtMs: number;
  nextLoopAtMs: number;
  /** The parameters its database was started with. */
  parameters: ReadonlyMap<string, string>;
  pendingRestart: ReadonlyMap<string, PendingParameter>;
  scheduledRestart: ScheduledRestart | undefined;
  member: MemberKey | undefined;
}

/** Says whether the node's process can do anything at all: neither killed nor stopped by a signal. */
export function isAwake(node: SimulatedNode): boolean {
  return node.alive && node.frozenAtMs === undefined;
}

/** Says whether other nodes get an answer from its API within their timeout of 2 s (seed, "reachable via the API"). */
export function isReachable(node: SimulatedNode): boolean {
  return isAwake(node) && (node.api.kind === "none" || (node.api.kind === "slow" && node.api.ms < 2000));
}

/** Says whether the database takes writes, or receives them from another cluster: it is where this cluster's WAL comes from. */
export function isSource(node: SimulatedNode): boolean {
  return isAwake(node) && node.state === "running" && (node.role === "primary" || node.role === "standby_leader");
}
