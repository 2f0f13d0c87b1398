import { readAccess } from "../../core/config/access-material.ts";
import type { Durability } from "../../core/cluster/drain.ts";
import type { Config, UpstreamConfig } from "../../core/config/model/config.ts";
import { sharedShape } from "../../core/config/outcome-shape.ts";
import { isLoopback } from "../../core/config/values/loopback.ts";
import { version } from "../../core/config/version.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import { Offer } from "../../core/feature/offer.ts";
import { clusterSharings, evidenceBringers, runClaims, sharedDrains } from "../../core/feature/offers.ts";
import type {
  ClusterSharing,
  DrainElsewhere,
  EvidenceBringer,
  OtherOwners,
  SharedDrains,
} from "../../core/feature/shared-evidence.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { FleetConfig } from "./config/fleet-schema.ts";
import { EtcdFleetStore } from "./etcd/etcd-fleet-store.ts";
import { fleetLines } from "./fleet-log.ts";
import type { FleetUsage } from "./fleet-metrics.ts";
import type { FleetSummary, FleetSurroundings } from "./ownership/fleet-document.ts";
import { FleetMembership } from "./ownership/fleet-membership.ts";
import type { FleetStore } from "./ownership/fleet-store.ts";
import type { FleetMember } from "./ownership/fleet-view.ts";

/** A fleet in a process. */
export interface RunningFleet extends Opened {
  /** This instance as a member; `null` while it has not begun to join. */
  readonly membership: FleetMembership | null;
  readonly usage: FleetUsage | null;
  /** The fleet as JSON in pieces; `null` without a membership. @param only a cluster: others are left out; `null`: all */
  pieces(only: string | null): Iterable<string> | null;
  /** The fleet without its clusters. */
  summary(): FleetSummary | null;
}

/** Where the members of a fleet see each other. */
export interface FleetPlace {
  readonly open: (fleet: FleetConfig) => FleetStore;
  /** Takes this instance as a member. */
  readonly joined?: (membership: FleetMembership) => void;
}

/** Brought where that is not etcd, as in simulations. */
export const fleetPlaces: Offer<FleetPlace> = new Offer();

/** What a fleet needs of its host. */
export type FleetHost = Pick<Host, "log" | "now" | "random" | "probes" | "offers">;

/** How long a start waits for the fleet, in ms: it probes all clusters otherwise. */
const joiningMaxMs = 1_500;
/** How long leaving may take, in ms: a request to etcd, twice if it needs another token, each with a limit of its own. */
const leavingMaxMs = 6_500;

/** The fleet that this instance is in, as it was configured. */
interface JoinedFleet {
  readonly key: string;
  readonly config: FleetConfig;
  readonly membership: FleetMembership;
  /** Whether other members can be on this machine. */
  readonly mayBeHere: boolean;
  /** Resolves when all members and owners are known, or it ends. */
  readonly known: Promise<void>;
  /** What belongs to the membership. */
  readonly scope: Scope;
}

/** Shares the clusters of the configuration with the other members of its fleet until the scope ends. */
export function openFleet(host: FleetHost, scope: Scope): RunningFleet {
  const fleet = new Fleet(host, scope);
  scope.hold("who probes what", clusterSharings.bring(host.offers, fleet));
  scope.hold("drains at other members", sharedDrains.bring(host.offers, fleet));
  return fleet;
}

/** This instance's part in the fleet of its configuration. */
class Fleet implements RunningFleet, ClusterSharing, SharedDrains {
  readonly #host: FleetHost;
  readonly #scope: Scope;
  #joined: JoinedFleet | null = null;
  #turn: Promise<void> = Promise.resolve();

  constructor(host: FleetHost, scope: Scope) {
    this.#host = host;
    this.#scope = scope;
  }

  /** Joins the fleet of a configuration, if it is another one. Resolves once it knows the members, or after a while. */
  configure(config: Config): Promise<void> {
    // One after the other: a membership ends before the next one begins.
    const taken = this.#turn.then(() => this.#take(config));
    this.#turn = taken.catch(() => {});
    return taken;
  }

  get membership(): FleetMembership | null {
    return this.#joined?.membership ?? null;
  }

  get usage(): FleetUsage | null {
    if (this.#joined === null) return null;
    const { phase, view, owned, changes, unshared } = this.#joined.membership;
    const isJoined = phase.kind === "joined" && phase.problem === null;
    const disagreements = [...(this.#bringer?.disagreements.values() ?? [])].flat().length;
    return { isJoined, members: view.members.size, owned, changes, unshared, disagreements };
  }

  pieces(only: string | null): Iterable<string> | null {
    if (this.#joined === null) return null;
    return this.#joined.membership.pieces(this.#surroundings(this.#joined.config), only);
  }

  summary(): FleetSummary | null {
    if (this.#joined === null) return null;
    return this.#joined.membership.summary(this.#surroundings(this.#joined.config), null);
  }

  ownersOf(cluster: string): readonly UpstreamConfig[] {
    if (this.#joined === null) return [];
    const assignment = this.#joined.membership.assignmentOf(cluster);
    return assignment.kind === "followed" ? upstreamsAt(assignment.owners, this.#joined) : [];
  }

  get otherOwners(): OtherOwners {
    if (this.#joined === null) return new Map();
    const joined = this.#joined;
    const shared = joined.membership.sharedOwnerships;
    return new Map(shared.map(([cluster, owners]) => [cluster, upstreamsAt(owners, joined)]));
  }

  probedBy(cluster: string): ReturnType<SharedDrains["probedBy"]> {
    const assignment = this.#joined?.membership.assignmentOf(cluster);
    if (assignment?.kind === "followed") return "others";
    return assignment === undefined || assignment.otherOwners.length === 0 ? "this" : "both";
  }

  async order(order: DrainElsewhere): Promise<Durability> {
    return this.#bringer?.drain(order) ?? { kind: "refused", problem: "nothing is followed" };
  }

  async #take({ fleet, clusters, probe }: Config): Promise<void> {
    if (fleet === null) return;
    const key = JSON.stringify(fleet);
    if (this.#joined !== null && this.#joined.key !== key) {
      const { scope } = this.#joined;
      this.#joined = null;
      await scope.end();
    }
    if (this.#scope.signal.aborted) return;
    const before = this.#joined;
    const joined = before ?? this.#join(fleet, key);
    this.#joined = joined;
    // A cluster that is followed by its own configuration is not shared.
    const shared = clusters.filter(({ follow }) => follow.length === 0);
    const shapes = new Map(shared.map((cluster) => [cluster.name, sharedShape(cluster, probe)]));
    joined.membership.serve({ clusters: shapes, observers: fleet.observers });
    if (before === null) await begun(joined);
  }

  #join(config: FleetConfig, key: string): JoinedFleet {
    const { log, now, probes, random, offers } = this.#host;
    const scope = this.#scope.child("the membership", leavingMaxMs);
    const { setTimer } = scope;
    const { advertise: url, name, zone, weight, leaseMs, etcd } = config;
    const [place = null] = fleetPlaces.in(offers);
    const location = { urls: etcd.urls, folder: `${etcd.prefix}/${name}/`, leaseMs };
    const store =
      place?.open(config) ?? new EtcdFleetStore(location, { access: () => readAccess(etcd), setTimer, random });
    const lines = fleetLines(log);
    let tell = doNothing;
    const known = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const membership = new FleetMembership({
      store,
      self: { id: new URL(url).host, url, zone, weight, version: version(), instance: offers.process },
      leaseMs,
      now,
      setTimer,
      onAssigned: probes.divide,
      onPhase: lines.phase,
      onKnown: tell,
      onDisplaced: lines.displaced,
      onDrain: lines.drain,
      onError: lines.error,
    });
    scope.hold("the membership", () => membership.stop(), leavingMaxMs);
    scope.hold("the claims", runClaims.bring(offers, membership));
    scope.hold("who waits for it", tell);
    place?.joined?.(membership);
    const mayBeHere = isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ""));
    return { key, config, membership, mayBeHere, known, scope };
  }

  get #bringer(): EvidenceBringer | null {
    return evidenceBringers.in(this.#host.offers)[0] ?? null;
  }

  /** What this instance has of the other members: their streams, and what it probes because they are silent. */
  #surroundings({ name }: FleetConfig): FleetSurroundings {
    const { streams = [], phases = [], disagreements = new Map() } = this.#bringer ?? {};
    const probed = new Set(phases.flatMap(([cluster, phase]) => (phase === "probing" ? [cluster] : [])));
    return {
      name,
      streams: new Map(
        streams.map(({ url, state, problem, silentMs, refused: [refusal] }) => [
          url,
          { live: state === "live", problem: problem ?? refusal?.message ?? null, silent_ms: silentMs },
        ]),
      ),
      isProbed: (cluster) => probed.has(cluster),
      disagreementsOf: (cluster) => disagreements.get(cluster) ?? [],
      nowMs: this.#host.now(),
    };
  }
}

function doNothing(): void {}

/** Begins. Resolves when the members are known, or after a while. */
function begun({ membership, known, scope }: JoinedFleet): Promise<void> {
  membership.start();
  return new Promise((resolve) => {
    const cancel = scope.setTimer(resolve, joiningMaxMs);
    void known.finally(cancel).then(resolve);
  });
}

/** What others have written into etcd is their word: it does not decide that a token goes there. */
function upstreamsAt(
  owners: readonly FleetMember[],
  { config: { tls, tokenFile }, mayBeHere }: JoinedFleet,
): readonly UpstreamConfig[] {
  return owners.map(({ url }) => ({ url, tls, tokenFile, stated: { mayBeHere } }));
}
