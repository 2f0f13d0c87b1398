import type { Node } from "../cluster/node.ts";
import type { PoolConfig } from "../config/model/config.ts";
import { isUnproven } from "../health/reason.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { poolMembers, type PoolMember } from "../pools/pool-members.ts";
import type { ConnectedAddress } from "../probe/client/connected-addresses.ts";
import { ClusterJudge, type JudgeContext } from "./cluster-judge.ts";
import type { EndpointAddress, EndpointAddresses } from "./endpoint-addresses.ts";

/** A member of a pool, and where it is by an address that can be published. */
export interface PoolEndpoint {
  readonly member: PoolMember;
  readonly at: EndpointAddress;
}

/** What the endpoints of pools depend on, and whom they are told. */
export interface PoolEndpointsContext extends JudgeContext {
  readonly addresses: Pick<EndpointAddresses, "of" | "follow">;
  /** Where the probes of a node are connected to; `null` if it is not known. */
  readonly probedAt: (node: Node) => ConnectedAddress | null;
  /** Called when the name of a node leads elsewhere than where it is probed, at most every few seconds. */
  readonly onElsewhere: (cluster: string, node: string) => void;
  /** Called with each judgement of a pool's cluster, also while there is too little evidence. */
  readonly onView?: (pool: PoolConfig, view: ClusterView) => void;
  /**
   * Called with each judgement of a pool that there is enough evidence for.
   * @returns up to when what follows from it holds without a change, in ms of rolecall's clock
   */
  readonly onEndpoints: (pool: PoolConfig, endpoints: readonly PoolEndpoint[], view: ClusterView) => number;
  /** Called when all evidence of a pool is gone: what was published of it stays. */
  readonly onSilence?: (pool: PoolConfig) => void;
  /** All pools of a cluster were judged. */
  readonly onJudged?: () => void;
}

interface FollowedPool {
  readonly pool: PoolConfig;
  /**
   * When the present evidence began, in ms of rolecall's clock; `null` while there is none: before the first round of
   * probes, or while rolecall itself is cut off.
   */
  evidenceSinceMs: number | null;
  /** Whether its endpoints were told since this process began. */
  wasTold: boolean;
}

/** The shortest time between two calls of `onElsewhere` for one node, in ms. */
const elsewhereMs = 5_000;

/**
 * The endpoints of pools, for what is published as a whole: Envoy's assignments, the slices of Kubernetes. Without
 * evidence about any node of its cluster (before the first round of probes, or while rolecall itself is cut off), nothing
 * is told of a pool. Then the list of members and all nodes are awaited, for one round of probes at most: what only some
 * nodes have said would empty the pool.
 */
export class PoolEndpoints {
  readonly #context: PoolEndpointsContext;
  readonly #judge: ClusterJudge;
  #roundMs = 0;
  #pools: readonly FollowedPool[] = [];
  /** When it was last told that a node is elsewhere. */
  readonly #toldElsewhereMs = new Map<string, number>();
  /** The hosts of each cluster's endpoints. */
  readonly #hosts = new Map<string, readonly string[]>();

  constructor(context: PoolEndpointsContext) {
    this.#context = context;
    this.#judge = new ClusterJudge(context, (name, view) => this.#update(name, view));
  }

  /**
   * Follows these pools from now on. What is known of those that stay is kept.
   * @param roundMs how long the first evidence about a node waits for evidence about the others, in ms: one round of probes
   */
  configure(pools: readonly PoolConfig[], roundMs: number): void {
    const before = new Map(this.#pools.map((followed) => [followed.pool.name, followed]));
    this.#roundMs = roundMs;
    this.#pools = pools.map((pool) => ({
      ...(before.get(pool.name) ?? { evidenceSinceMs: null, wasTold: false }),
      pool,
    }));
    this.#hosts.clear();
    this.#toldElsewhereMs.clear();
    this.#judge.follow(new Set(pools.map(({ cluster }) => cluster)));
    this.#followHosts();
  }

  /** Judges a cluster whose state may have changed. */
  clusterChanged(name: string): void {
    this.#judge.clusterChanged(name);
  }

  /** Judges everything again: addresses, or what was published, have changed. */
  judgeAgain(): void {
    this.#judge.judgeAgain();
  }

  /** Follows nothing any more, and ends all timers. */
  stop(): void {
    this.#judge.stop();
  }

  #update(name: string, view: ClusterView): number {
    let validUntilMs = Infinity;
    this.#noteHosts(name, view);
    for (const followed of this.#pools)
      if (followed.pool.cluster === name) validUntilMs = Math.min(validUntilMs, this.#updatePool(followed, view));
    this.#context.onJudged?.();
    return validUntilMs;
  }

  #updatePool(followed: FollowedPool, view: ClusterView): number {
    const { pool } = followed;
    const { members, validUntilMs } = poolMembers(view, pool.check);
    this.#context.onView?.(pool, view);
    const waitsUntilMs = this.#awaitEvidence(followed, members, view);
    if (waitsUntilMs !== null) return Math.min(validUntilMs, waitsUntilMs);
    const endpoints = members.map((member) => ({ member, at: this.#addressOf(member) }));
    for (const { member, at } of endpoints)
      if (at.isElsewhere) this.#tellElsewhere(pool.cluster, member.observation.node.name, view.nowMs);
    // What lacks names at first would take endpoints from those that have them.
    if (!followed.wasTold && endpoints.some(({ at }) => at.isPending)) return validUntilMs;
    followed.wasTold = true;
    return Math.min(validUntilMs, this.#context.onEndpoints(pool, endpoints, view));
  }

  /**
   * Decides whether there is enough evidence to tell a pool.
   * @returns `null` if there is; else up to when it is awaited, in ms of rolecall's clock
   */
  #awaitEvidence(
    followed: FollowedPool,
    members: readonly PoolMember[],
    { cluster, nowMs }: ClusterView,
  ): number | null {
    if (members.every(isWithoutEvidence)) {
      if (followed.evidenceSinceMs !== null) this.#context.onSilence?.(followed.pool);
      followed.evidenceSinceMs = null;
      return Infinity;
    }
    const isEnough = cluster.isMembershipKnown && !members.some(isAwaited);
    followed.evidenceSinceMs ??= isEnough ? -Infinity : nowMs;
    const untilMs = followed.evidenceSinceMs + this.#roundMs;
    if (isEnough || untilMs <= nowMs) {
      followed.evidenceSinceMs = -Infinity;
      return null;
    }
    return untilMs;
  }

  #addressOf({ address, observation }: PoolMember): EndpointAddress {
    return address === null
      ? noAddress
      : this.#context.addresses.of(address.host, this.#context.probedAt(observation.node));
  }

  #tellElsewhere(cluster: string, node: string, nowMs: number): void {
    const key = JSON.stringify([cluster, node]);
    if (nowMs - (this.#toldElsewhereMs.get(key) ?? -Infinity) < elsewhereMs) return;
    this.#toldElsewhereMs.set(key, nowMs);
    this.#context.onElsewhere(cluster, node);
  }

  #noteHosts(name: string, { cluster }: ClusterView): void {
    const hosts = cluster.nodes.flatMap(({ node }) => node.database?.host ?? []);
    const known = this.#hosts.get(name);
    if (known?.join(" ") === hosts.join(" ")) return;
    this.#hosts.set(name, hosts);
    if (known !== undefined) this.#followHosts();
  }

  #followHosts(): void {
    this.#context.addresses.follow(new Set([...this.#hosts.values()].flat()));
  }
}

const noAddress: EndpointAddress = { ip: null, isElsewhere: false, isPending: false };

/** Whether nothing is known about a node, neither for it nor against it. */
function isWithoutEvidence({ verdict }: PoolMember): boolean {
  return !verdict.fit && isUnproven(verdict.reason);
}

/**
 * Whether the next probes may tell what is not known of a node: its state, or since when it has lagged. For a while in
 * which rolecall stood still, the positions of the leader are missing, so that a lag in time counts from before it.
 */
function isAwaited(member: PoolMember): boolean {
  const { verdict } = member;
  return (
    isWithoutEvidence(member) || (!verdict.fit && (verdict.reason === "lagging" || verdict.reason === "lag_unknown"))
  );
}
