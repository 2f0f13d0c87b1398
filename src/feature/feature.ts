import type { Node } from "../cluster/node.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import type { Found } from "../health/conditions/condition.ts";
import type { EventKind } from "../events/cluster-event.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { AnswerOfFeature, FeatureCall } from "../http/admin-api/admin-api.ts";
import type { ConnectionHandler } from "../http/listener/listener-set.ts";
import type { Logger } from "../log/logger.ts";
import type { BroughtMetric, MetricSamples } from "../metrics/brought-metric.ts";
import type { OwnMetrics } from "../metrics/own-metrics.ts";
import type { ConnectedAddress } from "../probe/client/connected-addresses.ts";
import type { Offers } from "./offer.ts";
import type { Scope } from "./scope.ts";

/** What a feature is given. Timers come from its scope. */
export interface Host {
  readonly log: Logger;
  readonly metrics: OwnMetrics;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** The same, after a look whether the machine was suspended: for what may be the first to run after that. */
  readonly observe: () => number;
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  readonly snapshot: () => Snapshot;
  /** Where the probes of a node are connected to; `null`: not known. */
  readonly probedAt: (node: Node) => ConnectedAddress | null;
  /** Connects the probes of a node anew. */
  readonly reconnectTo: (cluster: string, node: string) => void;
  /** What features give each other. */
  readonly offers: Offers;
  /** The conditions of a cluster may have changed by what the feature knows. Never throws. */
  readonly changed: (cluster: string) => void;
  /** Logs an internal error of the feature; the rest goes on. */
  readonly contained: (error: unknown, about: object) => void;
}

/** What runs of a feature while the configuration uses it. What it has opened ends with its scope. */
export interface Opened {
  /** Puts a configuration in force: the one that it is opened for, too. */
  configure(config: Config): void;
  /** The state of a cluster may have changed. */
  clusterChanged?(name: string): void;
  /** The listeners that are open, by their keys: others have ended. */
  listening?(keys: ReadonlySet<string>): void;
  /** This process begins to stop: it answers on for a while, and then ends. */
  draining?(): void;
  /** This process is late for so long that it counts as gone, or is not any more (rule 16). */
  withdrawn?(isWithdrawn: boolean): void;
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
  readonly isUsed: (config: Config) => boolean;
  /** Loads what runs, on first use. */
  readonly load: () => Promise<(host: Host, scope: Scope) => Running>;
  /** Answers on admin listeners, by the first part of the path. `null`: the feature is not in use. */
  readonly routes?: Readonly<
    Record<string, (running: Running | null, call: FeatureCall) => ReturnType<AnswerOfFeature>>
  >;
  readonly metrics?: readonly FeatureMetric<Running>[];
  /** What it has found of a cluster. Each condition has a row in app/registry/conditions.ts. */
  readonly conditions?: (running: Running, cluster: string) => readonly Found<EventKind>[];
  /** What `/status` says of a cluster in addition. */
  readonly overview?: (running: Running, cluster: string) => object;
  /** What speaks on listeners of its dialects. */
  readonly dialects?: Readonly<Record<string, Dialect<Running>>>;
}
