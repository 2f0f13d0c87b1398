import type { Node } from "../../core/cluster/node.ts";
import type { PoolConfig } from "../../core/config/model/config.ts";
import { isUnproven } from "../../core/health/reason.ts";
import type { ClusterView } from "../../core/health/evidence/leadership/cluster-view.ts";
import { poolMembers, type PoolMember } from "../../core/pools/pool-members.ts";
import { ServerWeight } from "../../core/pools/weight/server-weight.ts";
import { weightInputOf } from "../../core/pools/weight/weight-input.ts";
import { ClusterJudge, type JudgeContext } from "../../core/balancing/cluster-judge.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import {
  type Assignment,
  type AssignmentMemory,
  type AssignmentRules,
  type EndpointMember,
  nextAssignment,
  nothingListed,
} from "./assignment/assignment.ts";
import type { ConnectedAddress } from "../../core/probe/client/connected-addresses.ts";
import type { EndpointAddress, EndpointAddresses } from "./endpoint-addresses.ts";

/** What Envoys get of a pool now. */
export interface PublishedPool {
  readonly pool: PoolConfig;
  readonly version: string;
  readonly assignment: Assignment;
  /** Nodes without a known IP address, which are left out. */
  readonly leftOut: readonly string[];
}

/** What assignments depend on. */
export interface AssignmentsContext extends JudgeContext {
  readonly addresses: Pick<EndpointAddresses, "of" | "follow">;
  /** Where the probes of a node are connected to; `null` if it is not known. */
  readonly probedAt: (node: Node) => ConnectedAddress | null;
  /** Called when the name of a node leads elsewhere than where it is probed, at most every few seconds. */
  readonly onElsewhere: (cluster: string, node: string) => void;
  /** Identifies this process in versions, so that a version of an earlier one never comes back. */
  readonly instance: () => string;
  /** Pools of which Envoys get something else from now on. Must not throw. */
  readonly onChange: (pools: readonly PublishedPool[]) => void;
}

/** The settings of a listener that all of its assignments have. */
export interface SharedRules extends Omit<AssignmentRules, "isOfPrimary"> {
  /** How long the first evidence about a node waits for evidence about the others, in ms: one round of probes. */
  readonly roundMs: number;
}

interface FollowedPool {
  readonly pool: PoolConfig;
  /**
   * When the present evidence began, in ms of rolecall's clock; `null` while there is none: before the first round of
   * probes, or while rolecall itself is cut off.
   */
  evidenceSinceMs: number | null;
  memory: AssignmentMemory;
  /**
   * Since when the open sessions of each node may live, as its check says to Envoy, in ms of rolecall's clock. Of a pool
   * of the primary alone.
   */
  sessionsSinceMs: ReadonlyMap<string, number>;
  weights: ReadonlyMap<string, ServerWeight>;
  published: PublishedPool | null;
}

/** The shortest time between two calls of `onElsewhere` for one node, in ms. */
const elsewhereMs = 5_000;
/** The longest time between two updates of a weight, in ms: it also changes with time. */
const weightMs = 1_000;

/**
 * What Envoys get of each pool. Without evidence about any node of its cluster (before the first round of probes, or
 * while rolecall itself is cut off), what was published stays. Then the list of members and all nodes are awaited, for
 * one round of probes at most: what only some nodes have said would empty the pool.
 */
export class PoolAssignments {
  readonly #context: AssignmentsContext;
  readonly #judge: ClusterJudge;
  #rules: SharedRules = { cutMs: 0, roundMs: 0, staleAfterMs: null, checksAt: null };
  #pools: readonly FollowedPool[] = [];
  #byName: ReadonlyMap<string, FollowedPool> = new Map();
  #changes = 0;
  /** When it was last told that a node is elsewhere. */
  readonly #toldElsewhereMs = new Map<string, number>();
  /** The hosts of each cluster's endpoints. */
  readonly #hosts = new Map<string, readonly string[]>();

  constructor(context: AssignmentsContext) {
    this.#context = context;
    this.#judge = new ClusterJudge(context, (name, view) => this.#update(name, view));
  }

  /** Follows these pools from now on. What is known of those that stay is kept. */
  configure(pools: readonly PoolConfig[], rules: SharedRules): void {
    const before = this.#byName;
    this.#rules = rules;
    this.#pools = pools.map((pool) => {
      const known = before.get(pool.name) ?? unknownPool;
      return { ...known, pool, weights: pool.weight === null ? new Map() : known.weights };
    });
    this.#byName = new Map(this.#pools.map((followed) => [followed.pool.name, followed]));
    this.#hosts.clear();
    this.#toldElsewhereMs.clear();
    this.#judge.follow(new Set(pools.map(({ cluster }) => cluster)));
    this.#followHosts();
  }

  /** Whether there is a pool of this name. */
  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** What Envoys get of a pool now; `undefined`: there is no such pool, or nothing to say of it yet. */
  of(name: string): PublishedPool | undefined {
    return this.#byName.get(name)?.published ?? undefined;
  }

  /** All that is published. */
  get published(): readonly PublishedPool[] {
    return this.#pools.flatMap(({ published }) => published ?? []);
  }

  /**
   * Since when the open sessions of a node may live, in ms of rolecall's clock: Envoy needs a check to know it.
   * @param pool a pool of the primary
   * @returns `null` if they may not
   */
  sessionsSinceMs(pool: string, node: string): number | null {
    return this.#byName.get(pool)?.sessionsSinceMs.get(node) ?? null;
  }

  /** Judges a cluster whose state may have changed. */
  clusterChanged(name: string): void {
    this.#judge.clusterChanged(name);
  }

  /** Judges everything again, because addresses have changed. */
  addressesChanged(): void {
    this.#judge.judgeAgain();
  }

  /** Publishes everything again under new versions. */
  refresh(): void {
    for (const followed of this.#pools)
      if (followed.published !== null) followed.published = { ...followed.published, version: this.#nextVersion() };
    this.#context.onChange(this.published);
  }

  /** Follows nothing any more, and ends all timers. */
  stop(): void {
    this.#judge.stop();
  }

  #update(name: string, view: ClusterView): number {
    let validUntilMs = Infinity;
    const changed: PublishedPool[] = [];
    this.#noteHosts(name, view);
    for (const followed of this.#pools) {
      if (followed.pool.cluster !== name) continue;
      const { members, validUntilMs: untilMs } = poolMembers(view, followed.pool.check);
      validUntilMs = Math.min(validUntilMs, untilMs);
      if (isOfPrimary(followed.pool)) followed.sessionsSinceMs = livingSince(followed, view);
      const waitsUntilMs = this.#awaitEvidence(followed, members, view);
      validUntilMs = Math.min(validUntilMs, waitsUntilMs ?? Infinity);
      if (waitsUntilMs !== null) continue;
      const addresses = members.map((member) => this.#addressOf(member));
      for (const [at, { isElsewhere }] of addresses.entries())
        if (isElsewhere) this.#tellElsewhere(name, members[at]?.observation.node.name ?? "", view.nowMs);
      // An assignment that lacks names would take endpoints from Envoy.
      if (followed.published === null && addresses.some(({ isPending }) => isPending)) continue;
      const { assignment, memory, leavingMs } = this.#assign(followed, { members, addresses }, view);
      validUntilMs = Math.min(validUntilMs, leavingMs);
      followed.memory = memory;
      const next = { assignment, leftOut: leftOutOf(members, assignment) };
      if (followed.published !== null && isSame(followed.published, next)) continue;
      followed.published = { pool: followed.pool, version: this.#nextVersion(), ...next };
      changed.push(followed.published);
    }
    if (changed.length > 0) this.#context.onChange(changed);
    return validUntilMs;
  }

  #assign(
    followed: FollowedPool,
    { members, addresses }: { readonly members: readonly PoolMember[]; readonly addresses: readonly EndpointAddress[] },
    view: ClusterView,
  ): { readonly assignment: Assignment; readonly memory: AssignmentMemory; readonly leavingMs: number } {
    const { pool, memory } = followed;
    const weights = new Map<string, ServerWeight>();
    const listed = members.map(({ observation, zone, verdict, isSilent, address }, at): EndpointMember => {
      const { name: node } = observation.node;
      const { ip, isElsewhere } = addresses[at] ?? noAddress;
      const member = { node, isElsewhere, zone, verdict, isSilent };
      const listable = address === null || ip === null ? null : { host: ip, port: address.port };
      if (pool.weight === null) return { ...member, address: listable, weight: null };
      const weight = followed.weights.get(node) ?? new ServerWeight(pool.weight);
      weights.set(node, weight);
      const percent = isSilent ? weight.last : weight.update(weightInputOf(view, observation, verdict.fit));
      // Envoy has no weight 0.
      return { ...member, address: listable, weight: Math.max(1, percent) };
    });
    followed.weights = weights;
    const rules = { ...this.#rules, isOfPrimary: isOfPrimary(pool) };
    const next = nextAssignment(listed, memory, { rules, nowMs: view.nowMs });
    const repeatMs = pool.weight === null ? Infinity : view.nowMs + weightMs;
    return { ...next, leavingMs: Math.min(next.validUntilMs, repeatMs) };
  }

  /**
   * Decides whether there is enough evidence to publish a pool.
   * @returns `null` if there is; else up to when it is awaited, in ms of rolecall's clock
   */
  #awaitEvidence(
    followed: FollowedPool,
    members: readonly PoolMember[],
    { cluster, nowMs }: ClusterView,
  ): number | null {
    if (members.every(isWithoutEvidence)) {
      followed.evidenceSinceMs = null;
      return Infinity;
    }
    const isEnough = cluster.isMembershipKnown && !members.some(isAwaited);
    followed.evidenceSinceMs ??= isEnough ? -Infinity : nowMs;
    const untilMs = followed.evidenceSinceMs + this.#rules.roundMs;
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

  #nextVersion(): string {
    this.#changes += 1;
    return `${this.#context.instance()}-${this.#changes}`;
  }
}

const noAddress: EndpointAddress = { ip: null, isElsewhere: false, isPending: false };

const unknownPool: Omit<FollowedPool, "pool"> = {
  sessionsSinceMs: new Map(),
  evidenceSinceMs: null,
  memory: nothingListed,
  weights: new Map(),
  published: null,
};

/** Since when the sessions of each node may live: those that may not are left out. */
function livingSince({ pool, sessionsSinceMs }: FollowedPool, view: ClusterView): ReadonlyMap<string, number> {
  const { members } = poolMembers(view, { ...pool.check, isForSessions: true });
  const living = members.filter(({ verdict }) => verdict.fit).map(({ observation }) => observation.node.name);
  return new Map(living.map((node) => [node, sessionsSinceMs.get(node) ?? view.nowMs]));
}

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

function leftOutOf(members: readonly PoolMember[], { endpoints }: Assignment): readonly string[] {
  const listed = new Set(endpoints.map(({ node }) => node));
  return members
    .filter(({ verdict, observation }) => verdict.fit && !listed.has(observation.node.name))
    .map(({ observation }) => observation.node.name);
}

function isSame(one: Omit<PublishedPool, "pool" | "version">, other: Omit<PublishedPool, "pool" | "version">): boolean {
  return JSON.stringify([one.assignment, one.leftOut]) === JSON.stringify([other.assignment, other.leftOut]);
}
