import { hostname } from "node:os";
import type { ClusterConfig, Config, UpstreamConfig } from "../../core/config/model/config.ts";
import { version } from "../../core/config/version.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import { Offer } from "../../core/feature/offer.ts";
import { clusterSharings, evidenceBringers } from "../../core/feature/offers.ts";
import type { ClusterSharing, EvidenceBringer } from "../../core/feature/shared-evidence.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { BodyBudget } from "../../core/http/message/body-budget.ts";
import { followLines } from "./follow-log.ts";
import type { OpenFeed } from "./follower/feed-connection.ts";
import { Follows } from "./follower/follows.ts";
import { httpFeed } from "./follower/http-feed.ts";
import { Feeds } from "./owner/feeds.ts";

/** What runs of following and feeding. */
export interface RunningFollow extends Opened {
  /** Takes outcomes of clusters that are followed. */
  readonly follows: Follows;
  /** Sends those of clusters that are probed here. */
  readonly feeds: Feeds;
  /** What requests for feeds that are being received may take in memory. */
  readonly bodies: BodyBudget;
}

/** How outcomes travel. */
export interface FeedTransport {
  readonly open: (upstream: UpstreamConfig) => OpenFeed;
  /** Takes what feeds other instances, if they do not ask on listeners. */
  readonly serve?: (feeds: Feeds) => void;
}

/** Brought where outcomes do not travel over HTTP, as in simulations. */
export const feedTransports: Offer<FeedTransport> = new Offer();

const overHttp: FeedTransport = { open: (upstream) => httpFeed(upstream) };

/** What following and feeding need of their host. */
export type FollowHost = Pick<
  Host,
  | "log"
  | "now"
  | "reading"
  | "wall"
  | "random"
  | "newId"
  | "cluster"
  | "policy"
  | "onOutcome"
  | "told"
  | "probes"
  | "drains"
  | "offers"
  | "contained"
>;

/** Bodies that are being received, in bytes: of one caller, and of all. One that names 10,000 clusters has some 4 MB. */
const bodyBytes = { one: 16 * 1024 * 1024, all: 32 * 1024 * 1024 } as const;
/** Of this process: what was opened before may receive some still. */
const bodies = new BodyBudget(bodyBytes);

/** Follows and feeds until the scope ends. */
export function openFollow(host: FollowHost, scope: Pick<Scope, "setTimer" | "hold">): RunningFollow {
  const { offers } = host;
  const [transport = overHttp] = feedTransports.in(offers);
  const shared = new SharedConfig(() => clusterSharings.in(offers)[0] ?? null);
  const follows = buildFollows(host, scope, transport);
  const feeds = buildFeeds(host, scope, () => shared.inForce);
  scope.hold("what is followed", () => follows.stop());
  scope.hold("the followers", () => feeds.stop());
  transport.serve?.(feeds);
  const start = async (): Promise<void> => {
    try {
      const first = follows.start(shared.look(), shared.sharing);
      feeds.reselect();
      await first;
    } catch (error) {
      host.contained(error, {});
    }
  };
  const bringer: EvidenceBringer = {
    brings: (cluster) => shared.upstreamsOf(cluster).length > 0,
    start,
    hint: (cluster, node) => follows.hint(cluster, node),
    drain: (order) => follows.drain(order),
    get streams() {
      return follows.upstreams;
    },
    get phases() {
      return follows.phases;
    },
    get disagreements() {
      return follows.disagreements;
    },
  };
  scope.hold("what is offered", evidenceBringers.bring(offers, bringer));
  return {
    follows,
    feeds,
    bodies,
    configure: (config) => {
      shared.configure(config);
      feeds.endAll("reload");
    },
    draining: () => feeds.endAll("stopping"),
  };
}

/** A configuration, in which the clusters are followed that others probe for this instance. */
class SharedConfig {
  readonly #sharing: () => ClusterSharing | null;
  #config: Config | null = null;
  #inForce: Config | null = null;

  /** @param sharing who probes shared clusters now; `null`: nobody shares any */
  constructor(sharing: () => ClusterSharing | null) {
    this.#sharing = sharing;
  }

  get sharing(): ClusterSharing | null {
    return this.#sharing();
  }

  /** As it was when it was last looked at. */
  get inForce(): Config {
    return this.#inForce ?? this.look();
  }

  configure(config: Config): void {
    this.#config = config;
    this.look();
  }

  /** Looks again at who probes what. */
  look(): Config {
    if (this.#config === null) throw new Error("Cannot follow: there must be a configuration");
    const clusters = this.#config.clusters.map((cluster) => {
      const follow = this.upstreamsOf(cluster);
      return follow === cluster.follow ? cluster : { ...cluster, follow };
    });
    this.#inForce = { ...this.#config, clusters };
    return this.#inForce;
  }

  /** From whom the outcomes of a cluster are taken. One that is followed by its own configuration is not shared. */
  upstreamsOf({ name, follow }: ClusterConfig): readonly UpstreamConfig[] {
    if (follow.length > 0) return follow;
    const owners = this.sharing?.ownersOf(name) ?? [];
    return owners.length > 0 ? owners : follow;
  }
}

function buildFollows(
  { log, cluster, told, probes, contained, now, reading, wall, random, policy }: FollowHost,
  { setTimer }: Pick<Scope, "setTimer">,
  { open }: FeedTransport,
): Follows {
  return new Follows({
    open,
    self: { version: version(), name: hostname() },
    state: cluster,
    policy,
    record: told.record,
    adopt: told.adopt,
    onDrain: told.drained,
    now,
    reading,
    wall,
    setTimer,
    random,
    probing: probes,
    onFirst: told.first,
    onState: followLines(log),
    onError: contained,
  });
}

function buildFeeds(
  { cluster, reading, newId, onOutcome, drains, offers }: FollowHost,
  { setTimer }: Pick<Scope, "setTimer">,
  config: () => Config,
): Feeds {
  return new Feeds({
    config,
    instance: offers.process,
    cluster,
    reading,
    setTimer,
    newId,
    version: version(),
    onOutcome,
    drains,
  });
}
