import type { Durability } from "../cluster/drain.ts";
import type { Config } from "../config/model/config.ts";
import type { Follows, FollowsContext, OtherOwners, UpstreamStatus } from "../fleet/follower/follows.ts";

/** What following depends on. */
export interface FollowedClustersContext extends Omit<FollowsContext, "open"> {
  readonly open: FollowsContext["open"] | null;
  /** Called if what following needs cannot be loaded. */
  readonly onLoadError: (error: unknown) => void;
}

/** Follows the clusters that have upstreams. Without one nothing of it is loaded. */
export class FollowedClusters {
  readonly #context: FollowedClustersContext;
  #follows: Follows | null = null;
  #loading: Promise<Follows> | null = null;
  #isStopped = false;

  constructor(context: FollowedClustersContext) {
    this.#context = context;
  }

  /** Follows by this configuration from now on, as {@link Follows.start}. */
  async start(config: Config, otherOwners: OtherOwners): Promise<void> {
    const isAlone = otherOwners.size === 0 && config.clusters.every(({ follow }) => follow.length === 0);
    if (this.#follows === null && isAlone) return;
    try {
      // Several may wait for it.
      this.#loading ??= this.#load();
      this.#follows = await this.#loading;
    } catch (error) {
      this.#loading = null;
      this.#context.onLoadError(error);
      await Promise.all(
        config.clusters.filter(({ follow }) => follow.length > 0).map(({ name }) => this.#context.probing.begin(name)),
      );
      return;
    }
    if (!this.#isStopped) await this.#follows.start(config, otherOwners);
  }

  /** What is known of the upstreams. */
  get upstreams(): readonly UpstreamStatus[] {
    return this.#follows?.upstreams ?? [];
  }

  /** Where the evidence of each cluster that is followed comes from, as {@link Follows.phases}. */
  get phases(): Follows["phases"] {
    return this.#follows?.phases ?? [];
  }

  /** The nodes about which upstreams disagree, as {@link Follows.disagreements}. */
  get disagreements(): Follows["disagreements"] {
    return this.#follows?.disagreements ?? new Map();
  }

  /** Asks nodes of a cluster that is followed, as {@link Follows.hint}. */
  hint(cluster: string, node: string | null): boolean {
    return this.#follows?.hint(cluster, node) ?? false;
  }

  /** Drains a node at the other instances that probe its cluster, as {@link Follows.drain}. */
  async drain(order: Parameters<Follows["drain"]>[0]): Promise<Durability> {
    return this.#follows?.drain(order) ?? { kind: "refused", problem: "nothing is followed" };
  }

  stop(): void {
    this.#isStopped = true;
    this.#follows?.stop();
  }

  async #load(): Promise<Follows> {
    const { open, ...context } = this.#context;
    const { Follows: Service } = await import("../fleet/follower/follows.ts");
    if (open !== null) return new Service({ ...context, open });
    const { httpFeed } = await import("../fleet/follower/http-feed.ts");
    return new Service({ ...context, open: httpFeed });
  }
}
