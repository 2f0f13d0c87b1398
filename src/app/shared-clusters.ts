import { readAccess } from "../config/access-material.ts";
import type { ClusterConfig, Config, FleetConfig, UpstreamConfig } from "../config/model/config.ts";
import { isLoopback } from "../config/values/loopback.ts";
import { version } from "../config/version.ts";
import type { OtherOwners } from "../fleet/follower/follows.ts";
import type { FleetMembership } from "../fleet/ownership/fleet-membership.ts";
import type { FleetStore } from "../fleet/ownership/fleet-store.ts";
import type { FleetMember } from "../fleet/ownership/fleet-view.ts";
import { fleetLines } from "./logs/fleet-log.ts";
import type { Logger } from "../log/logger.ts";
import { type Machine, waitAtMost } from "./machine/machine.ts";

/** What sharing clusters depends on. */
export interface SharedClustersContext {
  readonly log: Logger;
  readonly machine: Pick<Machine, "setTimer" | "random" | "openFleet">;
  /** Names this run of rolecall. */
  readonly instance: string;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** What this instance is to do with some cluster has changed. */
  readonly onAssigned: () => void;
}

/** How long the start waits for the fleet, in ms: it probes all clusters otherwise. */
const joiningMaxMs = 1_500;

/** The fleet in which this instance is, as it was configured. */
export interface JoinedFleet {
  readonly key: string;
  readonly config: FleetConfig;
  readonly membership: FleetMembership;
}

/** Shares the clusters with the other members of a fleet. Without `fleet` nothing of it is loaded. */
export class SharedClusters {
  readonly #context: SharedClustersContext;
  #joined: JoinedFleet | null = null;
  #isStopped = false;
  #hasJoined = (): void => {};

  constructor(context: SharedClustersContext) {
    this.#context = context;
  }

  /** Joins the fleet of a configuration, or leaves the present one. Resolves once it knows the members, or after a while. */
  async configure(config: Config): Promise<void> {
    const { fleet } = config;
    const key = JSON.stringify(fleet);
    if (this.#joined !== null && this.#joined.key !== key) {
      const { membership } = this.#joined;
      this.#joined = null;
      await membership.stop();
    }
    if (fleet === null || this.#isStopped) return;
    const isNew = this.#joined === null;
    try {
      this.#joined ??= { key, config: fleet, membership: await this.#load(fleet) };
    } catch (err) {
      this.#context.log.error({ err }, "the fleet cannot be joined; all clusters are probed here");
      return;
    }
    await this.#serve(this.#joined, config, isNew);
  }

  /** This instance's part in its fleet; `null`: it is in none. */
  get joined(): JoinedFleet | null {
    return this.#joined;
  }

  /** The configuration in which this instance follows the owners of the clusters that are not its own. */
  assigned(config: Config): Config {
    const joined = this.#joined;
    if (joined === null) return config;
    return { ...config, clusters: config.clusters.map((cluster) => assignedCluster(cluster, joined)) };
  }

  /** The other owners of each cluster that this instance owns. */
  get otherOwners(): OtherOwners {
    const joined = this.#joined;
    if (joined === null) return new Map();
    return new Map(
      joined.membership.sharedOwnerships.map(([cluster, owners]) => [cluster, upstreamsAt(owners, joined.config)]),
    );
  }

  /** Leaves the fleet. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#joined?.membership.stop();
  }

  async #serve({ membership, config: fleet }: JoinedFleet, config: Config, isNew: boolean): Promise<void> {
    const { sharedShape } = await import("../fleet/feed/outcome-shape.ts");
    // A cluster that is followed by its own configuration is not shared.
    const shared = config.clusters.filter(({ follow }) => follow.length === 0);
    const clusters = new Map(shared.map((cluster) => [cluster.name, sharedShape(cluster, config.probe)]));
    membership.serve({ clusters, observers: fleet.observers });
    if (!isNew) return;
    const joined = new Promise<void>((resolve) => {
      this.#hasJoined = resolve;
    });
    membership.start();
    await waitAtMost(this.#context.machine.setTimer, joiningMaxMs, joined);
  }

  async #load(fleet: FleetConfig): Promise<FleetMembership> {
    const { log, now, onAssigned, instance, machine } = this.#context;
    const { FleetMembership: Membership } = await import("../fleet/ownership/fleet-membership.ts");
    const store = await this.#open(fleet);
    const { advertise: url, zone, weight, leaseMs } = fleet;
    const lines = fleetLines(log);
    return new Membership({
      store,
      self: { id: new URL(url).host, url, zone, weight, version: version(), instance },
      leaseMs,
      now,
      setTimer: machine.setTimer,
      onAssigned,
      onPhase: lines.phase,
      onKnown: () => this.#hasJoined(),
      onDisplaced: lines.displaced,
      onDrain: lines.drain,
      onError: lines.error,
    });
  }

  async #open(fleet: FleetConfig): Promise<FleetStore> {
    const { setTimer, random, openFleet } = this.#context.machine;
    if (openFleet !== undefined) return openFleet(fleet);
    const { EtcdFleetStore } = await import("../fleet/etcd/etcd-fleet-store.ts");
    const { name, leaseMs, etcd } = fleet;
    const location = { urls: etcd.urls, folder: `${etcd.prefix}/${name}/`, leaseMs };
    return new EtcdFleetStore(location, { access: () => readAccess(etcd), setTimer, random });
  }
}

function assignedCluster(cluster: ClusterConfig, { membership, config }: JoinedFleet): ClusterConfig {
  if (cluster.follow.length > 0) return cluster;
  const assignment = membership.assignmentOf(cluster.name);
  if (assignment.kind === "probed") return cluster;
  return { ...cluster, follow: upstreamsAt(assignment.owners, config) };
}

/** What others have written into etcd is their word: it does not decide that a token goes there. */
function upstreamsAt(
  owners: readonly FleetMember[],
  { tls, tokenFile, advertise }: FleetConfig,
): readonly UpstreamConfig[] {
  const mayBeHere = isLoopback(new URL(advertise).hostname.replace(/^\[|\]$/g, ""));
  return owners.map(({ url }) => ({ url, tls, tokenFile, stated: { mayBeHere } }));
}
