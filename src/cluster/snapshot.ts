import type { ClusterDocument } from "./documents/cluster-document.ts";
import type { Drain } from "./drain.ts";
import type { DynamicConfig } from "./documents/dynamic-config.ts";
import type { SwitchPoints } from "./documents/history.ts";
import type { Leadership } from "./leadership.ts";
import type { Observation } from "./observation.ts";

/** All observations at one instant. A probe replaces its own cluster's part and nothing else. */
export interface Snapshot {
  /** Names this run of rolecall; snapshots of different runs cannot be compared. */
  readonly instance: string;
  readonly sequence: number;
  readonly clusters: readonly ClusterState[];
  /** Cluster name -> index in `parts`. */
  readonly index: ReadonlyMap<string, number>;
}

/** What is known of one cluster. */
export interface ClusterState {
  readonly name: string;
  /** The scope its nodes must state; `null` until the first of them has said it. */
  readonly scope: string | null;
  /** The snapshot in which this part came to be. */
  readonly sequence: number;
  /** Grows when an input of a verdict other than age changes, or what is judged by does: verdicts of parts with equal facts differ by age alone. */
  readonly revision: number;
  readonly nodes: readonly Observation[];
  /** Node name -> index in `nodes`. */
  readonly index: ReadonlyMap<string, number>;
  /** Whether a member list was ever had, or is not needed: before that no name can be called wrong. */
  readonly isMembershipKnown: boolean;
  /** Indices of the nodes whose last report came with the lock: the claims, fresh or not. */
  readonly lockClaims: readonly number[];
  readonly leadership: Leadership;
  /** Who the cluster document named, per node that was asked for it. */
  readonly leaderViews: ReadonlyMap<string, WitnessView>;
  /** The nodes whose newest request for the cluster document failed, and when that was sent, in ms of our clock. */
  readonly failedViews: ReadonlyMap<string, number>;
  readonly position: LeaderPosition | null;
  /** Where the leader was when: positions rise from first to last, all of the pair in `position`. */
  readonly positionSamples: readonly PositionSample[];
  /** When the newest report of any node was asked for. */
  readonly newestReportAtMs: number;
  /** Node name -> its drain; ended ones may still be here. */
  readonly drains: ReadonlyMap<string, Drain>;
  readonly documents: Documents;
  readonly config: DynamicConfig | null;
  readonly switchPoints: SwitchPoints | null;
}

/** A cluster document's word on who leads. */
export interface WitnessView {
  /** The member name of the leader, as the document or the known node with the leader's API address has it. */
  readonly leader: string | null;
  /** The name of the node that is meant; the leader's own name where no node is known by it; `null` where nobody leads. */
  readonly names: string | null;
  /** The leader's timeline, where the document states it. */
  readonly timeline: number | null;
  readonly sentAtMs: number;
  /** When it was recorded, in ms of our clock: what the document says was so at some instant between the two. */
  readonly answeredAtMs: number;
  /** While nobody is named: when the views of this witness that named nobody were requested, without another between, oldest first. */
  readonly nobodyAtMs: readonly number[];
  /** The API address that the document gives the node that it names, where it states one. */
  readonly namesAt: string | null;
  /** Member name -> API base address, as the document lists them. */
  readonly addresses: ReadonlyMap<string, string>;
}

/** The highest position seen of a leader: positions belong to one system identifier and timeline (rule 4). */
export interface LeaderPosition {
  readonly system: string | null;
  readonly timeline: number | null;
  readonly highest: number;
  /** Earlier timelines of this leader's history, and up to where they are known to be shared with it before `/history` says. */
  readonly shared: readonly SharedHistory[];
}

/** An earlier timeline that is the same as the leader's history up to a position: its switch point is not below it. */
export interface SharedHistory {
  readonly timeline: number;
  readonly upTo: number;
}

/** At `atMs` of our clock the leader was not past `position`. */
export interface PositionSample {
  readonly atMs: number;
  readonly position: number;
}

/** The documents of a cluster that are served from memory. */
export type DocumentName = "cluster" | "config" | "history" | "failsafe";

export type Documents = { readonly [name in DocumentName]: CachedDocument | null };

/** A document as it was answered. */
export interface CachedDocument {
  readonly status: number;
  readonly body: string;
  readonly source: string;
  readonly sentAtMs: number;
}

/** What a node answered when asked for one of the cluster's documents, read. */
export interface DocumentAnswer {
  readonly name: DocumentName;
  readonly served: CachedDocument;
  readonly cluster?: ClusterDocument | undefined;
  readonly config?: DynamicConfig | undefined;
  readonly history?: SwitchPoints | undefined;
}
