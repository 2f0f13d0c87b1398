import type { Drain, DrainChange, Durability } from "../../../core/cluster/drain.ts";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import type { ClusterConfig, Config, UpstreamConfig } from "../../../core/config/model/config.ts";
import type { HealthPolicy } from "../../../core/health/health-policy.ts";
import type { ClockReading } from "../../../core/state/clock.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { DrainOrder, FeedRefusal, FeedRequest, OrderedDrain, WantedCluster } from "../feed/feed-messages.ts";
import { outcomeShape } from "../../../core/config/outcome-shape.ts";
import type {
  ClusterSharing,
  DividedProbes,
  EvidenceStream,
  OtherOwners,
  OwnerDisagreement,
} from "../../../core/feature/shared-evidence.ts";
import type { OpenFeed } from "./feed-connection.ts";
import { FollowedCluster } from "./followed-cluster.ts";
import { SecondOpinions } from "./second-opinions.ts";
import { Upstream, type UpstreamContext, upstreamProblem, type UpstreamState } from "./upstream.ts";

/** What following depends on. */
export interface FollowsContext {
  readonly open: (upstream: UpstreamConfig) => OpenFeed;
  /** Who this instance is. */
  readonly self: Pick<FeedRequest, "version" | "name">;
  readonly state: (cluster: string) => ClusterState | undefined;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  readonly record: (outcome: ProbeOutcome) => void;
  readonly adopt: (state: ClusterState) => void;
  readonly onDrain: (change: DrainChange) => void;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** Reads rolecall's clock, and looks for a gap first. */
  readonly reading: () => ClockReading;
  readonly wall: () => number;
  readonly setTimer: SetTimer;
  readonly random: () => number;
  readonly probing: Omit<DividedProbes, "divide">;
  /** The first evidence of a cluster has come from an upstream. */
  readonly onFirst: (cluster: string) => void;
  readonly onState: (upstream: string, state: UpstreamState) => void;
  /** An internal error, which costs nothing but what it happened in. */
  readonly onError: (error: unknown, about: { readonly cluster: string }) => void;
}

/** What is known of one upstream. */
export interface UpstreamStatus extends EvidenceStream {
  readonly state: UpstreamState["kind"];
  readonly version: string | null;
  /** How many clusters it feeds. */
  readonly clusters: number;
  readonly receivedBytes: number;
  readonly refused: readonly FeedRefusal[];
}

/** An upstream, and the clusters that it is to feed. */
interface FollowedUpstream {
  /** How it is reached. */
  readonly key: string;
  readonly upstream: Upstream;
  readonly url: string;
  readonly clusters: ReadonlySet<string>;
}

/** The longest time between two looks at what time has changed, in ms. */
const tickMs = 250;

/** Takes the outcomes of the clusters that are followed from other instances, and has them probed here meanwhile. */
export class Follows {
  readonly #context: FollowsContext;
  readonly #opinions: SecondOpinions;
  readonly #clusters = new Map<string, FollowedCluster>();
  /** Cluster -> resolves when it has its first evidence. */
  readonly #firsts = new Map<string, Promise<void>>();
  #upstreams: readonly FollowedUpstream[] = [];
  #otherOwners: OtherOwners = new Map();
  #cancelTick: CancelTimer | null = null;

  constructor(context: FollowsContext) {
    this.#context = context;
    const { setTimer, random, probing } = context;
    this.#opinions = new SecondOpinions({ setTimer, random, ask: (cluster, node) => probing.ask(cluster, node) });
  }

  /**
   * Follows the clusters of a configuration that have upstreams, in place of those followed so far.
   * @param sharing whose other owners get drains of clusters that are probed here; drains of a cluster that it has given to
   *   this instance stay. `null`: no cluster is shared
   * @returns resolves when every cluster has its first evidence, from an upstream or from probes
   */
  async start(
    { clusters, probe }: Pick<Config, "clusters" | "probe">,
    sharing: Pick<ClusterSharing, "otherOwners"> | null = null,
  ): Promise<void> {
    const otherOwners = sharing?.otherOwners ?? new Map();
    const followed = clusters.filter(({ follow }) => follow.length > 0);
    const names = new Set(followed.map(({ name }) => name));
    for (const [name, cluster] of this.#clusters)
      if (!names.has(name)) {
        if (sharing === null) cluster.leave();
        else cluster.stop();
        this.#clusters.delete(name);
        this.#firsts.delete(name);
      }
    for (const cluster of followed) {
      const known = this.#clusters.get(cluster.name);
      known?.configure({ cluster, probe });
      if (known === undefined) this.#firsts.set(cluster.name, this.#add({ cluster, probe }));
    }
    this.#otherOwners = otherOwners;
    this.#follow(upstreamsOf(followed, otherOwners), probe);
    if (this.#clusters.size > 0) this.#tick();
    // Also of those that an earlier call waits for.
    await Promise.all(followed.flatMap(({ name }) => this.#firsts.get(name) ?? []));
  }

  /** Whether a cluster is followed, and not probed here now. */
  rests(cluster: string): boolean {
    const phase = this.#clusters.get(cluster)?.phase ?? "probing";
    return phase !== "probing";
  }

  /** Where the evidence of each cluster comes from. */
  get phases(): readonly (readonly [cluster: string, phase: FollowedCluster["phase"]])[] {
    return [...this.#clusters].map(([name, { phase }]) => [name, phase]);
  }

  /** The nodes of each cluster about which its upstreams disagree. */
  get disagreements(): ReadonlyMap<string, readonly OwnerDisagreement[]> {
    return new Map(
      [...this.#clusters].flatMap(([name, { disagreements }]) =>
        disagreements.length === 0 ? [] : [[name, disagreements] as const],
      ),
    );
  }

  /** What is known of the upstreams. */
  get upstreams(): readonly UpstreamStatus[] {
    return this.#upstreams.map(({ upstream, url, clusters }) => ({
      url,
      state: upstream.state.kind,
      problem: upstreamProblem(upstream.state),
      version: "version" in upstream.state ? upstream.state.version : null,
      silentMs: Number.isFinite(upstream.silentForMs) ? upstream.silentForMs : null,
      clusters: [...clusters].filter((cluster) => this.#isFedBy(upstream, cluster)).length,
      receivedBytes: upstream.receivedBytes,
      refused: "refused" in upstream.state ? upstream.state.refused : [],
    }));
  }

  /** Asks nodes of a cluster that rests. @returns `false` if it does not rest, or no node can be asked */
  hint(cluster: string, node: string | null): boolean {
    return this.rests(cluster) && this.#clusters.get(cluster)?.hint(node) === true;
  }

  /**
   * Drains a node, or ends its drain, at all other instances that probe the cluster. Where it is followed, the drain is
   * in force here, too, when they have accepted it.
   */
  async drain(order: Omit<DrainOrder, "stream">): Promise<Durability> {
    const { cluster, node } = order;
    const others = this.#otherOwners.get(cluster) ?? [];
    const probing = this.#upstreams.filter(
      ({ clusters, url }) => clusters.has(cluster) || others.some((other) => other.url === url),
    );
    if (probing.length === 0) return { kind: "refused", problem: "no instance that probes the cluster is known" };
    const answers = await Promise.allSettled(probing.map(({ upstream }) => upstream.drain(order)));
    const problems: string[] = [];
    let isDurable = true;
    for (const [at, answer] of answers.entries()) {
      const url = probing[at]?.url ?? "";
      if (answer.status === "rejected") problems.push(`${url}: ${errorMessage(answer.reason)}`);
      else {
        isDurable &&= answer.value.isDurable;
        this.#takeDrain(url, { cluster, node }, answer.value);
      }
    }
    if (problems.length > 0) return { kind: "refused", problem: problems.join("; ") };
    return { kind: isDurable ? "durable" : "volatile" };
  }

  /** Ends following. */
  stop(): void {
    this.#cancelTick?.();
    this.#cancelTick = null;
    this.#endUpstreams();
    for (const cluster of this.#clusters.values()) cluster.stop();
  }

  #takeDrain(upstream: string, about: Pick<DrainOrder, "cluster" | "node">, { drain }: OrderedDrain): void {
    const taken = drain === null ? null : drainHere(drain, this.#context.now());
    this.#contain(about.cluster, () =>
      this.#clusters.get(about.cluster)?.take(upstream, { kind: "drain", ...about, drain: taken }),
    );
  }

  /** Streams of upstreams that stay go on, with the clusters that they are to feed now. */
  #follow(wanted: ReturnType<typeof upstreamsOf>, probe: Config["probe"]): void {
    const before = this.#upstreams;
    this.#upstreams = wanted.map(({ config, clusters }) => {
      const request = clusters.map((cluster) => ({ name: cluster.name, shape: outcomeShape(cluster, probe) }));
      const key = JSON.stringify([config, probe.maxAgeMs]);
      const known = before.find((other) => other.key === key)?.upstream;
      known?.select(request);
      const upstream = known ?? this.#upstreamOf(config, request, probe.maxAgeMs);
      return { key, upstream, url: config.url, clusters: new Set(clusters.map(({ name }) => name)) };
    });
    const [left, present] = [upstreamsIn(before), upstreamsIn(this.#upstreams)];
    for (const upstream of left) if (!present.has(upstream)) upstream.stop();
    for (const upstream of present) if (!left.has(upstream)) upstream.start();
  }

  #endUpstreams(): void {
    for (const { upstream } of this.#upstreams) upstream.stop();
    this.#upstreams = [];
  }

  #add(config: ConstructorParameters<typeof FollowedCluster>[0]): Promise<void> {
    const { state, policy, record, adopt, onDrain, random, probing, onFirst } = this.#context;
    const { name } = config.cluster;
    const isProbed = probing.isActive(name);
    return new Promise((resolve) => {
      const about = {
        state: () => state(name),
        policy: () => policy(name),
        record,
        adopt,
        onDrain,
        now: this.#context.now,
        opinions: this.#opinions,
        random,
        probing: { begin: () => void this.#probe(name).then(resolve), end: () => probing.end(name) },
        onFirst: () => {
          onFirst(name);
          resolve();
        },
        onStop: resolve,
      };
      this.#clusters.set(name, new FollowedCluster(config, about, isProbed));
      if (isProbed) resolve();
    });
  }

  #upstreamOf(config: UpstreamConfig, wanted: readonly WantedCluster[], maxAgeMs: number): Upstream {
    const { open, self, now, reading, wall, setTimer, random, onState } = this.#context;
    const context: UpstreamContext = {
      name: config.url,
      open: open(config),
      self,
      now,
      reading,
      wall,
      setTimer,
      random,
      echoEveryMs: Math.min(1_000, maxAgeMs / 10),
      onState,
      onOutcome: (upstream, outcome) => {
        const { cluster } = outcome;
        this.#contain(cluster, () => this.#clusters.get(cluster)?.take(upstream, outcome));
      },
      onFull: (upstream, cluster, state) =>
        this.#contain(cluster, () => this.#clusters.get(cluster)?.takeFull(upstream, state)),
    };
    return new Upstream(context, wanted);
  }

  #tick(): void {
    this.#cancelTick?.();
    // After this machine was suspended, no message may come that would show it.
    this.#context.reading();
    for (const [name, cluster] of this.#clusters) this.#contain(name, () => cluster.tick(this.#feeding(name)));
    this.#cancelTick = this.#context.setTimer(() => this.#tick(), tickMs);
  }

  /** Never rejects. @returns resolves after the first round */
  async #probe(cluster: string): Promise<void> {
    try {
      await this.#context.probing.begin(cluster);
    } catch (error) {
      this.#context.onError(error, { cluster });
    }
  }

  #contain(cluster: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#context.onError(error, { cluster });
    }
  }

  /** The upstreams that feed a cluster now. */
  #feeding(cluster: string): readonly string[] {
    return this.#upstreams.filter(({ upstream }) => this.#isFedBy(upstream, cluster)).map(({ url }) => url);
  }

  #isFedBy(upstream: Upstream, cluster: string): boolean {
    return upstream.feeds(cluster, this.#clusters.get(cluster)?.silentMs ?? 0);
  }
}

function upstreamsIn(followed: readonly FollowedUpstream[]): ReadonlySet<Upstream> {
  return new Set(followed.map(({ upstream }) => upstream));
}

/** Each upstream once, with the clusters that it is to feed: none, if it only gets drains. */
function upstreamsOf(
  clusters: Config["clusters"],
  otherOwners: OtherOwners,
): readonly { readonly config: UpstreamConfig; readonly clusters: Config["clusters"] }[] {
  const byKey = new Map<string, { readonly config: UpstreamConfig; readonly clusters: ClusterConfig[] }>();
  const feeding = (config: UpstreamConfig): ClusterConfig[] => {
    const key = JSON.stringify(config);
    const known = byKey.get(key) ?? { config, clusters: [] };
    byKey.set(key, known);
    return known.clusters;
  };
  for (const cluster of clusters) for (const config of cluster.follow) feeding(config).push(cluster);
  for (const config of [...otherOwners.values()].flat()) feeding(config);
  return [...byKey.values()];
}

function drainHere({ leftMs, ...drain }: NonNullable<OrderedDrain["drain"]>, nowMs: number): Drain {
  return { ...drain, untilMs: nowMs + leftMs };
}
