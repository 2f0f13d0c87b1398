import type { ClusterDocument } from "./documents/cluster-document.ts";
import type { Contact } from "./contact.ts";
import type { DcsState } from "./dcs.ts";
import type { Drain } from "./drain.ts";
import type { DynamicConfig, StatedConfig } from "./documents/dynamic-config.ts";
import type { SwitchPoints } from "./documents/history.ts";
import type { Leadership } from "./leadership.ts";
import type { Observation } from "./observation.ts";
import type { WitnessView } from "./witness-view.ts";

export type { WitnessView } from "./witness-view.ts";

/** All observations at one instant. A probe replaces the state of its own cluster only. */
export interface Snapshot {
  /** Identifies this run of rolecall. Snapshots of different runs cannot be compared. */
  readonly instance: string;
  readonly sequence: number;
  readonly clusters: readonly ClusterState[];
  /** Cluster name -> index in `clusters`. */
  readonly index: ReadonlyMap<string, number>;
}

/** What is known of one cluster. */
export interface ClusterState {
  readonly name: string;
  /** The scope that its nodes must report; `null` until the first of them reports one. */
  readonly scope: string | null;
  /** The sequence number of the snapshot that this state was created with. */
  readonly sequence: number;
  /**
   * Increases when the policy or an input of a verdict other than age changes. Between states of one revision verdicts
   * differ by age alone.
   */
  readonly revision: number;
  readonly nodes: readonly Observation[];
  /** Node name -> index in `nodes`. */
  readonly index: ReadonlyMap<string, number>;
  /** Whether a member list was received, or none is needed. Before that no node name can be rejected as unknown. */
  readonly isMembershipKnown: boolean;
  /** Whether the first request to each configured address has ended in any way (rule 10). */
  readonly hasAskedAll: boolean;
  /** Address -> what answered there, for the probed addresses that no proved node has. */
  readonly contacts: ReadonlyMap<string, Contact>;
  /**
   * Member -> the addresses that prove themselves for it, where there are several, or where votes do not allow the only
   * one (rule 10).
   */
  readonly addressDisputes: ReadonlyMap<string, readonly string[]>;
  /** Whether an address that a list gives has ever proved itself for a member: then lists say where members are. */
  readonly hasListedProof: boolean;
  /** Indices of the nodes whose last report says that they hold the lock, fresh or not. */
  readonly lockClaims: readonly number[];
  readonly leadership: Leadership;
  /** Node name -> whom its cluster document names as the leader. */
  readonly leaderViews: ReadonlyMap<string, WitnessView>;
  /** Nodes whose newest request for the cluster document failed -> when it was sent, in ms of rolecall's clock. */
  readonly failedViews: ReadonlyMap<string, number>;
  readonly position: LeaderPosition | null;
  /** Since when the present leader has stated positions on its timeline; `null` while none has. */
  readonly statedOn: StatedTimeline | null;
  /** The leader's positions over time, ascending. All belong to the system and timeline of `position`. */
  readonly positionSamples: readonly PositionSample[];
  /** The last position that a leader stated (rule 4); `null` if none did. */
  readonly lastStatement: LeaderStatement | null;
  /** When the probe of the newest report of any node was sent, in ms of rolecall's clock. */
  readonly newestReportAtMs: number;
  /** Node name -> its drain. Expired ones may be included. */
  readonly drains: ReadonlyMap<string, Drain>;
  /**
   * The state of the cluster that this standby cluster replicates from; `null` if no source is configured. It is never
   * older than the snapshot.
   */
  readonly source: ClusterState | null;
  /** What the DCS shows; `null` if no DCS is configured. */
  readonly dcs: DcsState | null;
  readonly documents: Documents;
  readonly config: DynamicConfig | null;
  readonly switchPoints: SwitchPoints | null;
}

/** A new state while it is made: nobody else has it yet. */
export type Draft = { -readonly [Key in keyof ClusterState]: ClusterState[Key] };

/**
 * Copies a state for the next one, field by field: V8 needs four times the memory and ten times the time for a spread of
 * so many fields, which matters for every probe.
 */
export function draftOf(state: ClusterState): Draft {
  return {
    name: state.name,
    scope: state.scope,
    sequence: state.sequence,
    revision: state.revision,
    nodes: state.nodes,
    index: state.index,
    isMembershipKnown: state.isMembershipKnown,
    hasAskedAll: state.hasAskedAll,
    contacts: state.contacts,
    addressDisputes: state.addressDisputes,
    hasListedProof: state.hasListedProof,
    lockClaims: state.lockClaims,
    leadership: state.leadership,
    leaderViews: state.leaderViews,
    failedViews: state.failedViews,
    position: state.position,
    statedOn: state.statedOn,
    positionSamples: state.positionSamples,
    lastStatement: state.lastStatement,
    newestReportAtMs: state.newestReportAtMs,
    drains: state.drains,
    source: state.source,
    dcs: state.dcs,
    documents: state.documents,
    config: state.config,
    switchPoints: state.switchPoints,
  };
}

/**
 * The highest known position of a leader. Positions belong to one system identifier and timeline (rule 4). In bytes of
 * WAL.
 */
export interface LeaderPosition {
  readonly system: string | null;
  readonly timeline: number | null;
  readonly highest: number;
  /**
   * The highest position of the leader that has most recently stated one on this timeline; `null` if none has: then
   * `highest` is only what replicas have received.
   */
  readonly peak: LeaderPeak | null;
  /**
   * Earlier timelines in this leader's history, as far as they are known to be shared before `/history` has the switch
   * point.
   */
  readonly shared: readonly SharedHistory[];
  /**
   * Until when a position from an exporter's page counts, in ms of rolecall's clock. Absent for one from a status
   * document.
   */
  readonly pageUntilMs?: number | undefined;
}

/** A leader's timeline, and when its first position on it was recorded, in ms of rolecall's clock. */
export interface StatedTimeline {
  readonly leader: string;
  readonly timeline: number | null;
  readonly sinceMs: number;
}

/** What a leader has stated on its timeline, in bytes of WAL. */
export interface LeaderPeak {
  readonly leader: string;
  readonly highest: number;
  /** The last position. It is lower than the highest one after a crash, or if the leader was set back. */
  readonly last: number;
}

/** An earlier timeline that equals the leader's history at least up to the position `upTo`. */
export interface SharedHistory {
  readonly timeline: number;
  readonly upTo: number;
}

/** The last report in which a lock holder stated the leader's position. Instants are in ms of rolecall's clock. */
export interface LeaderStatement {
  /** The node that stated it. */
  readonly by: string;
  /** The node that stood last: the lock holder, or the last one. It may not have stated a position itself yet. */
  readonly leader: string;
  /** When the report was requested. */
  readonly sentAtMs: number;
  /** The nodes when it was recorded. */
  readonly evidence: Pick<ClusterState, "nodes" | "index">;
  /** When the newest report that gave a sample was requested: that report, or one of a replica since. */
  readonly sampledAtMs: number;
  /** From when on time counts against the hold; free time that has ended is left out. */
  readonly countsFromMs: number;
  /** Free time that has not ended: since the leader's last report, which showed no running primary. */
  readonly free: { readonly fromMs: number; readonly untilMs: number } | null;
  /** Whether no other node stood since. */
  readonly isUnbroken: boolean;
  /** When the leader's newest report since that showed no running primary was requested; `null` while none did. */
  readonly stoppedAtMs: number | null;
  /** The return of the leader that this statement belongs to; `null` if there is none. */
  readonly returned: LeaderReturn | null;
}

/** The leader returned after PostgreSQL was down. Instants are in ms of rolecall's clock, positions in bytes of WAL. */
export interface LeaderReturn {
  /** When its newest report that showed no running primary was requested. */
  readonly stoppedAtMs: number;
  /** The instant at which the lag of its replicas was held until then. */
  readonly heldAtMs: number;
  /** Its last position before, and the timeline of it. */
  readonly last: number;
  readonly timeline: number | null;
  /** Its first position since. */
  readonly position: number;
  /** Until when the lag of its replicas counts from its return. */
  readonly untilMs: number;
  /** The replicas that had replayed its last position, and whose lag was held. */
  readonly held: readonly string[];
}

/** At `atMs` of rolecall's clock the leader had not passed `position`. */
export interface PositionSample {
  readonly atMs: number;
  readonly position: number;
}

/** The cluster's documents that are served from memory. */
export const documentNames = ["cluster", "config", "history", "failsafe"] as const;

export type DocumentName = (typeof documentNames)[number];

export type Documents = { readonly [name in DocumentName]: CachedDocument | null };

/** A document as a node returned it. */
export interface CachedDocument {
  readonly status: number;
  readonly body: string;
  /** The same as strict JSON, with `null` for values that have no such form. Absent where the body is strict JSON. */
  readonly strict?: string | undefined;
  /** The name of the node. */
  readonly source: string;
  /** When the request was sent, in ms of rolecall's clock. */
  readonly sentAtMs: number;
}

/** A node's answer to the request for one of the cluster's documents, with the parsed content. */
export interface DocumentAnswer {
  readonly name: DocumentName;
  readonly served: CachedDocument;
  readonly cluster?: ClusterDocument | undefined;
  readonly config?: StatedConfig | undefined;
  readonly history?: SwitchPoints | undefined;
  /** Whether a row of the history could not be read: what is known of it stays. */
  readonly isHistoryPartial?: boolean | undefined;
}
