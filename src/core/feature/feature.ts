import type { CalledChange } from "../cluster/management-call.ts";
import type { Node } from "../cluster/node.ts";
import type { Hint, HintEffect } from "../cluster/hint.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import type { LagLimit } from "../cluster/lag-limit.ts";
import type { ClusterConfig, Config, ListenerConfig } from "../config/model/config.ts";
import type { Brought, Found, SeenClients } from "../health/conditions/condition.ts";
import type { ClusterEvent, EventDraft, EventKind } from "../events/cluster-event.ts";
import type { AskedOverview } from "../health/documents/asked-nodes.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { AskedCheck } from "../health/rules/asked-checks.ts";
import type { AnswerOfFeature, FeatureCall } from "../http/admin-api/admin-api.ts";
import type { ConfigOverview } from "../http/diagnostics/config-overview.ts";
import type { ConnectionHandler } from "../http/listener/listener-set.ts";
import type { BackendCount } from "../http/message/server-census.ts";
import type { Logger } from "../log/logger.ts";
import type { BroughtMetric, MetricSamples } from "../metrics/brought-metric.ts";
import type { OwnMetrics } from "../metrics/own-metrics.ts";
import type { ConnectedAddress } from "../probe/client/connected-addresses.ts";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { DrainRequest, Durability } from "../cluster/drain.ts";
import type { ClockReading } from "../state/clock.ts";
import type { Offer, Offers } from "./offer.ts";
import type { Scope } from "./scope.ts";
import type { DividedProbes, ToldEvidence } from "./shared-evidence.ts";

/** What a feature is given. Timers come from its scope. */
export interface Host {
  readonly log: Logger;
  readonly metrics: OwnMetrics;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** The same, after a look whether the machine was suspended: for what may be the first to run after that. */
  readonly observe: () => number;
  /** The same, as the parts that {@link now} is the sum of. */
  readonly reading: () => ClockReading;
  /** In ms since the epoch. */
  readonly wall: () => number;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Returns an identifier that no other has. */
  readonly newId: () => string;
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  readonly snapshot: () => Snapshot;
  /** Where the probes of a node are connected to; `null`: not known. */
  readonly probedAt: (node: Node) => ConnectedAddress | null;
  /** Connects the probes of a node anew. */
  readonly reconnectTo: (cluster: string, node: string) => void;
  /**
   * Whether the address of a node is its own by what this instance itself knows: what another instance says of addresses
   * and their proof is a hint. Asks the servers, without credentials, where nothing else tells. Never rejects.
   */
  readonly isOwnAddress: (cluster: string, node: Node) => Promise<boolean>;
  /** Probes every node of a cluster now. */
  readonly probeNow: (cluster: string) => void;
  /** A call is about to be forwarded that makes another node the primary. @returns what says that it came to nothing */
  readonly announceChange: (change: CalledChange) => () => void;
  /** Follows a hint: nodes are probed more often for a while. */
  readonly hint: (hint: Hint) => HintEffect;
  /** What balancers ask all processes for. */
  readonly asked: {
    /** The checks of a cluster with a limit for lag, as of some seconds ago. */
    readonly checks: (cluster: string) => readonly AskedCheck[];
    /** The nodes of a cluster, as of some seconds ago. */
    readonly nodes: (cluster: ClusterState) => AskedOverview;
    /** The limits that the lag of a cluster's nodes is compared with. */
    readonly limits: (cluster: string) => Promise<readonly LagLimit[]>;
  };
  /** What features know of a cluster. */
  readonly brought: (cluster: string) => Brought;
  /** Which configuration is in force, and which was refused. */
  readonly loadedConfig: () => ConfigOverview;
  /** The checks of each server that HAProxy names, of all processes. */
  readonly backendCounts: () => Promise<readonly BackendCount[]>;
  /** Publishes an event, and logs it. Never throws. @param fields what its line in the log says in addition */
  readonly publish: (event: EventDraft, fields?: object) => void;
  /** What was published of all clusters. */
  readonly events: {
    /** The newest, oldest first. */
    readonly recent: () => readonly ClusterEvent[];
    /** How many of a cluster have begun and not ended. */
    readonly openCount: (cluster: string) => number;
    /** Calls a listener with each that is published from now on. @returns removes it */
    readonly subscribe: (listener: (event: ClusterEvent) => void) => () => void;
  };
  /** Calls a listener with each outcome that changed the snapshot. @returns removes it */
  readonly onOutcome: (listener: (outcome: ProbeOutcome) => void) => () => void;
  /** Records evidence that the feature itself has got of a cluster that is probed here. Never throws. */
  readonly record: (outcome: ProbeOutcome) => void;
  readonly told: ToldEvidence;
  readonly probes: DividedProbes;
  /** Drains of this instance. */
  readonly drains: {
    begin(cluster: string, node: string, request: DrainRequest): Promise<Durability>;
    /** @returns `null` if the node is not drained */
    end(cluster: string, node: string, by: string | null): Promise<Durability> | null;
  };
  /** Whether this process is late for so long that it counts as gone (rule 16). */
  readonly isWithdrawn: () => boolean;
  /** What features give each other. */
  readonly offers: Offers;
  /** The conditions of a cluster may have changed by what the feature knows. Never throws. */
  readonly changed: (cluster: string) => void;
  /** Logs an internal error of the feature; the rest goes on. */
  readonly contained: (error: unknown, about: object) => void;
}

/** What runs of a feature while the configuration uses it. What it has opened ends with its scope. */
export interface Opened {
  /**
   * Puts a configuration in force: the one that it is opened for, too. What takes time and must be done before probes
   * begin is awaited, if the feature precedes them.
   */
  configure(config: Config): void | Promise<void>;
  /** Resolves when it can answer: at the start listeners open after that. Never rejects. */
  readonly ready?: Promise<void>;
  /** Whether it has something to finish: then it stays open although the configuration does not use it any more. */
  isBusy?(): boolean;
  /**
   * The clusters that are probed here from now on, as they are configured. Called with each configuration, before its
   * probes begin, and when other instances take some or give some back.
   */
  probing?(clusters: readonly ClusterConfig[]): void;
  /** The state of a cluster may have changed. */
  clusterChanged?(name: string): void;
  /** The listeners that are open, by their keys: others have ended. */
  listening?(keys: ReadonlySet<string>): void;
  /** This process begins to stop: it answers on for a while, and then ends. */
  draining?(): void;
  /**
   * This process ends: resolves when nothing is half done any more. Everything else still runs, for a bounded time. Never
   * rejects.
   */
  stopping?(): Promise<void>;
  /** {@link Host.isWithdrawn} has become true. */
  withdrawn?(): void;
}

/** A listener whose dialect a feature speaks. */
export interface ListenerInForce {
  readonly listener: ListenerConfig;
  readonly config: Config;
  /** Identifies the listener over reloads. */
  readonly key: string;
}

/** How a feature speaks on listeners. */
export interface Dialect<Running> {
  /** The name of the protocol in TLS (ALPN). */
  readonly alpn?: string;
  readonly serve: (running: Running, listener: ListenerInForce) => ConnectionHandler;
}

/** A metric that is read at a scrape, from what runs; `null`: the feature is not in use. */
export interface FeatureMetric<Running> extends Omit<BroughtMetric, "read"> {
  readonly read: (running: Running | null) => MetricSamples;
}

/**
 * A feature of the service, as far as the program knows it before it loads it. The keys, the checks and the commands of a
 * feature have tables of their own, because programs that do not serve read them too.
 */
export interface Feature<Running extends Opened> {
  readonly name: string;
  /** @param isGiven whether another feature gives an offer with this configuration */
  readonly isUsed: (config: Config, isGiven: (offer: Offer<unknown>) => boolean) => boolean;
  /** Whether an earlier process has left something to finish, where the configuration does not use the feature. */
  readonly hasLeft?: (config: Config) => Promise<boolean>;
  /** Loads what runs, on first use. */
  readonly load: () => Promise<(host: Host, scope: Scope) => Running>;
  /** What it needs to be given: without a feature that gives it, it fails. */
  readonly needs?: readonly Offer<unknown>[];
  /** What it gives. It is in use, too, where a feature in use needs that. */
  readonly gives?: readonly Offer<unknown>[];
  /**
   * Probes of a configuration begin once it has put that in force, or has ended: it says which clusters are not probed
   * here, or it brings probes.
   */
  readonly precedesProbes?: true;
  /** Routes whose first call opens it although the configuration does not use it. It stays open then. */
  readonly opensOn?: readonly string[];
  /**
   * Answers on admin listeners, by the first part of the path, or by two parts; by none: what no other path answers.
   * `null`: the feature is not in use.
   */
  readonly routes?: Readonly<
    Record<string, (running: Running | null, call: FeatureCall) => ReturnType<AnswerOfFeature>>
  >;
  /** The same for paths below `/clusters/{cluster}/`, whole; `nodes/{node}/` stands for any node. */
  readonly clusterRoutes?: Feature<Running>["routes"];
  readonly metrics?: readonly FeatureMetric<Running>[];
  /** What it has found of a cluster. Each condition has a row in app/registry/conditions.ts. */
  readonly conditions?: (running: Running, cluster: string) => readonly Found<EventKind>[];
  /** What it has seen of where the clients of a cluster get, for the situation of the cluster. */
  readonly seen?: (running: Running, cluster: string) => readonly SeenClients[];
  /** What `/status` says of a cluster in addition. */
  readonly overview?: (running: Running, cluster: string) => object;
  /**
   * What `/edges` says of this process in addition. `null`: the feature is not in use.
   * @param only the cluster of the listener that received the request: what belongs to others is left out; `null`: all
   */
  readonly edges?: (running: Running | null, only: string | null) => object;
  /** What speaks on listeners of its dialects. */
  readonly dialects?: Readonly<Record<string, Dialect<Running>>>;
}
