import type { SimulatorObject } from "./json.ts";

/** The `state` that a node's API reports (`GET /patroni`), as far as the model has it. */
export type NodeState = "running" | "starting" | "stopping" | "stopped" | "restarting" | "creating replica";

/** The `role` that a node's API reports. */
export type Role = "primary" | "replica" | "demoted" | "standby_leader";

/** A change in progress and when it ends. No other may start on this node until then. */
export interface Transition {
  readonly kind:
    "handing over" | "demoting" | "demoted" | "starting" | "promoting" | "restarting" | "wiping" | "copying";
  readonly endsAtMs: number;
}

/** How the node's API misbehaves while the node itself works. */
export type ApiFault =
  | { readonly kind: "none" }
  | { readonly kind: "hang" }
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "garbage"; readonly style: GarbageStyle };

/** The invalid response of the API: truncated JSON, bytes that are not HTTP, an HTML page, a document of 16 MiB. */
export type GarbageStyle = "json" | "http" | "html" | "huge";

/** The change of a parameter that needs a restart. */
export interface PendingParameter {
  readonly old_value: string;
  readonly new_value: string;
}

/** What a node last wrote about itself to the DCS. The member list consists of these. */
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

/** A scheduled restart: when, and the filters of the request. */
export interface ScheduledRestart {
  readonly atMs: number;
  readonly filters: SimulatorObject;
}

/** One simulated node: its process, its database and their faults. */
export interface SimulatedNode {
  readonly name: string;
  readonly databasePort: number;
  readonly tags: SimulatorObject;
  apiUrl: string;
  alive: boolean;
  frozenAtMs: number | undefined;
  api: ApiFault;
  detachedAtMs: number | undefined;
  /** How far replay stays behind the leader; `Infinity`: replay is stopped. */
  lagBytes: number | undefined;
  /** Its API claims the leader lock, even if another node holds it. */
  claimsLock: boolean;
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
  transition: Transition | undefined;
  lastLoopAtMs: number;
  nextLoopAtMs: number;
  /** The parameters that its database was started with. */
  parameters: ReadonlyMap<string, string>;
  pendingRestart: ReadonlyMap<string, PendingParameter>;
  scheduledRestart: ScheduledRestart | undefined;
  member: MemberKey | undefined;
}

/** Returns whether the node's process runs: neither killed nor frozen. */
export function isAwake(node: SimulatedNode): boolean {
  return node.alive && node.frozenAtMs === undefined;
}

/**
 * Returns whether its API answers within the 2 s timeout of other nodes: one that does not cannot become the leader.
 */
export function isReachable(node: SimulatedNode): boolean {
  return isAwake(node) && (node.api.kind === "none" || (node.api.kind === "slow" && node.api.ms < 2000));
}

/**
 * Returns whether the node is the source of the cluster's WAL: it takes writes, or receives them from another
 * cluster.
 */
export function isSource(node: SimulatedNode): boolean {
  return isAwake(node) && node.state === "running" && (node.role === "primary" || node.role === "standby_leader");
}
