import type { ClusterDocument } from "./documents/cluster-document.ts";
import type { Drain } from "./drain.ts";
import type { DynamicConfig } from "./documents/dynamic-config.ts";
import type { SwitchPoints } from "./documents/history.ts";
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
  /**
   * Whom the next dispute over the lock is settled for (rule 2): the holder, and while nobody claims the lock the last one, so that a
   * silence does not decide who leads; `null` once claims are contested. No verdict goes by it, see `holder`.
   */
  readonly lastUncontestedLeader: string | null;
  /**
   * The node whose claim stood last, for half an interval at least, whatever came after: claims that appear together (at our own start,
   * after a thaw) are not ordered by the milliseconds between their answers. It breaks ties (rule 2) and outlasts a restart.
   */
  readonly incumbent: string | null;
  /** What was decided about who leads when this part was made. */
  readonly leadership: Leadership;
  /** The claims that views took away, by node name: they stay lost until views give them back (rule 2). */
  readonly lost: ReadonlyMap<string, LostClaim>;
  /** Who the cluster document named, per node that was asked for it. */
  readonly leaderViews: ReadonlyMap<string, WitnessView>;
  /** The nodes whose newest request for the cluster document failed, and when that was sent, in ms of our clock. */
  readonly failedViews: ReadonlyMap<string, number>;
  readonly position: LeaderPosition | null;
  /** Where the leader was when: positions rise from first to last, all of the pair in `position`. */
  readonly positionSamples: readonly PositionSample[];
  /** The last time a holder's yes was withdrawn, and whose it was. */
  readonly lastLeaderLoss: LeaderLoss | null;
  /** Who held the lock when this part was made, and may have a yes for it; `null` as soon as nobody does. `stood` outlasts a silence. */
  readonly lockHolder: string | null;
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

/** A claim that views took away. */
export interface LostClaim {
  /** When the newest of the views that took it away was requested, in ms of our clock. */
  readonly viewMs: number;
  /** The witnesses of those views. */
  readonly witnesses: readonly string[];
}

/** By what one of several claims stands; `sole` where no other is left. */
export type Decision = "sole" | "views" | "own_view" | "stood_last" | "timeline" | "receivers";

/** Who leads: at most one node. */
export type Leadership =
  | { readonly kind: "unclaimed" }
  /** `witnesses`: those whose views decided. */
  | { readonly kind: "held"; readonly holder: string; readonly by: Decision; readonly witnesses: readonly string[] }
  /** Several claims, of which nothing prefers one. */
  | { readonly kind: "contested"; readonly between: readonly string[] }
  /** Every claim is lost. */
  | { readonly kind: "lost" };

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

export interface LeaderLoss {
  readonly from: string;
  readonly atMs: number;
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
