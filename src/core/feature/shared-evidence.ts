/** What instances that share their evidence give each other, as the core and features see it. */
import type { DrainChange, DrainRequest, Durability } from "../cluster/drain.ts";
import type { ProbeOutcome, StatusOutcome } from "../cluster/outcome.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { ClusterConfig, UpstreamConfig } from "../config/model/config.ts";

/**
 * Where the evidence of a cluster that other instances probe comes from.
 *
 * - `awaiting`: nobody feeds it yet
 * - `following`: another instance feeds it. Its nodes are not probed here
 * - `probing`: none does. Its nodes are probed here meanwhile
 */
export type FollowPhaseKind = "awaiting" | "following" | "probing";

/** What is known of an instance whose outcomes are taken. */
export interface EvidenceStream {
  readonly url: string;
  /** `live`: it feeds its clusters. */
  readonly state: string;
  /** Why it is not connected; `null` if it is. */
  readonly problem: string | null;
  /** For how long nothing was heard of it, in ms; `null`: it never was. */
  readonly silentMs: number | null;
  /** What it does not feed. */
  readonly refused: readonly { readonly message: string }[];
}

/** A node of which the owners of its cluster say different things. */
export interface OwnerDisagreement {
  readonly node: string;
  /** Since when, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** Address of an owner -> what it says, in words. */
  readonly says: ReadonlyMap<string, string>;
}

/** A drain that begins at the other instances that probe a cluster, or ends there. */
export interface DrainElsewhere {
  readonly cluster: string;
  readonly node: string;
  /** Who asked for it; `null` if nobody has said so. */
  readonly by: string | null;
  /** `null`: it ends. */
  readonly drain: Omit<DrainRequest, "by"> | null;
}

/** Brings the evidence of clusters that other instances probe. The core probes what nobody brings. */
export interface EvidenceBringer {
  /** Whether it brings that of a cluster, as it is configured, by what is known now. */
  brings(cluster: ClusterConfig): boolean;
  /**
   * Brings it from now on, by what is known now. Called with each configuration, after the probers know its clusters, and
   * whenever what is brought has changed. Never rejects.
   * @returns resolves when each of its clusters has its first evidence, from others or from probes of this instance
   */
  start(): Promise<void>;
  /** Asks nodes of a cluster that is not probed here. @returns `false` if none is asked */
  hint(cluster: string, node: string | null): boolean;
  /** Begins or ends a drain at the other instances that probe the cluster. */
  drain(order: DrainElsewhere): Promise<Durability>;
  /** The instances whose outcomes are taken. */
  readonly streams: readonly EvidenceStream[];
  /** The clusters that it brings. */
  readonly phases: readonly (readonly [cluster: string, phase: FollowPhaseKind])[];
  /** Cluster -> the nodes about which its owners disagree. */
  readonly disagreements: ReadonlyMap<string, readonly OwnerDisagreement[]>;
}

/** Cluster that is probed here -> the other instances that probe it: nothing but drains passes between them. */
export type OtherOwners = ReadonlyMap<string, readonly UpstreamConfig[]>;

/** Says who probes the clusters that instances share. Who brings evidence follows it. */
export interface ClusterSharing {
  /** The instances that probe a cluster in place of this one; none: it is probed here. */
  ownersOf(cluster: string): readonly UpstreamConfig[];
  readonly otherOwners: OtherOwners;
}

/** Drains of clusters that several instances may probe. */
export interface SharedDrains {
  /** Which instances probe a cluster: this one, others, or both. */
  probedBy(cluster: string): "this" | "others" | "both";
  /** Begins or ends a drain at the others. */
  order(order: DrainElsewhere): Promise<Durability>;
}

/** Grants the switchover of a cluster to one instance at a time. */
export interface RunClaims {
  /** @returns what the key of the cluster holds now, and a number that grows. @throws Error if that is not known */
  claimRun(
    cluster: string,
    value: string,
    lifeS: number,
  ): Promise<{ readonly value: string; readonly revision: number }>;
  releaseRun(cluster: string, value: string): Promise<void>;
  /**
   * Takes the right to hold the clients of a cluster after a loss, which lasts as long as this instance does.
   * @returns what the key of the cluster holds now
   * @throws Error if that is not known
   */
  claimHold(cluster: string, value: string): Promise<string>;
  releaseHold(cluster: string, value: string): Promise<void>;
}

/** Takes what other instances report about clusters. What they say of addresses is only a hint (rule 10). */
export interface ToldEvidence {
  readonly record: (outcome: ProbeOutcome) => void;
  /** Puts another state of a cluster in the place of the present one. */
  readonly adopt: (state: ClusterState) => void;
  /** A drain of another instance has begun or ended. */
  readonly drained: (change: DrainChange) => void;
  /** The first evidence of a cluster has come. */
  readonly first: (cluster: string) => void;
}

/** The probes of this instance, where others may replace them. */
export interface DividedProbes {
  /** Probes the nodes of a cluster. Resolves after the first round. */
  readonly begin: (cluster: string) => Promise<void>;
  readonly end: (cluster: string) => void;
  /** Whether its nodes are probed now. */
  readonly isActive: (cluster: string) => boolean;
  /** Asks a node once; what came of it is not recorded. @returns `null` if it could not be asked */
  readonly ask: (cluster: string, node: string) => Promise<StatusOutcome | null>;
  /** Who probes which cluster has changed: the core looks again at what nobody brings. */
  readonly divide: () => void;
}
