import type { PoolConfig } from "../../core/config/model/config.ts";
import type { ClusterView } from "../../core/health/evidence/leadership/cluster-view.ts";
import { poolMembers } from "../../core/pools/pool-members.ts";
import { ServerWeight } from "../../core/pools/weight/server-weight.ts";
import { weightInputOf } from "../../core/pools/weight/weight-input.ts";
import { type PoolEndpoint, PoolEndpoints, type PoolEndpointsContext } from "../../core/balancing/pool-endpoints.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import {
  type Assignment,
  type AssignmentMemory,
  type AssignmentRules,
  type EndpointMember,
  nextAssignment,
  nothingListed,
} from "./assignment/assignment.ts";

/** What Envoys get of a pool now. */
export interface PublishedPool {
  readonly pool: PoolConfig;
  readonly version: string;
  readonly assignment: Assignment;
  /** Nodes without a known IP address, which are left out. */
  readonly leftOut: readonly string[];
}

/** What assignments depend on. */
export interface AssignmentsContext extends Omit<
  PoolEndpointsContext,
  "onView" | "onEndpoints" | "onSilence" | "onJudged"
> {
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

interface AssignedPool {
  readonly pool: PoolConfig;
  memory: AssignmentMemory;
  /**
   * Since when the open sessions of each node may live, as its check says to Envoy, in ms of rolecall's clock. Of a pool
   * of the primary alone.
   */
  sessionsSinceMs: ReadonlyMap<string, number>;
  weights: ReadonlyMap<string, ServerWeight>;
  published: PublishedPool | null;
}

/** The longest time between two updates of a weight, in ms: it also changes with time. */
const weightMs = 1_000;

/** What Envoys get of each pool. Without enough evidence, what was published stays. */
export class PoolAssignments {
  readonly #context: AssignmentsContext;
  readonly #endpoints: PoolEndpoints;
  #rules: SharedRules = { cutMs: 0, roundMs: 0, staleAfterMs: null, checksAt: null };
  #pools: readonly AssignedPool[] = [];
  #byName: ReadonlyMap<string, AssignedPool> = new Map();
  /** What is published anew by the present judgement. */
  #changed: PublishedPool[] = [];
  #changes = 0;
  /** `null`: something was published since they were asked for. */
  #versions: ReadonlyMap<string, string> | null = null;

  constructor(context: AssignmentsContext) {
    this.#context = context;
    this.#endpoints = new PoolEndpoints({
      ...context,
      onView: ({ name }, view) => {
        const assigned = this.#byName.get(name);
        if (assigned !== undefined && isOfPrimary(assigned.pool))
          assigned.sessionsSinceMs = livingSince(assigned, view);
      },
      onEndpoints: ({ name }, endpoints, view) => this.#update(name, endpoints, view),
      onJudged: () => this.#publishChanged(),
    });
  }

  /** Follows these pools from now on. What is known of those that stay is kept. */
  configure(pools: readonly PoolConfig[], rules: SharedRules): void {
    const before = this.#byName;
    this.#rules = rules;
    this.#pools = pools.map((pool) => {
      const known = before.get(pool.name) ?? unknownPool;
      return { ...known, pool, weights: pool.weight === null ? new Map() : known.weights };
    });
    this.#byName = new Map(this.#pools.map((assigned) => [assigned.pool.name, assigned]));
    this.#versions = null;
    this.#endpoints.configure(pools, rules.roundMs);
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

  /** The versions of all that is published, by pool: the same map until something is published. */
  get versions(): ReadonlyMap<string, string> {
    this.#versions ??= new Map(this.published.map(({ pool, version }) => [pool.name, version]));
    return this.#versions;
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
    this.#endpoints.clusterChanged(name);
  }

  /** Judges everything again, because addresses have changed. */
  addressesChanged(): void {
    this.#endpoints.judgeAgain();
  }

  /** Publishes everything again under new versions. */
  refresh(): void {
    for (const assigned of this.#pools)
      if (assigned.published !== null) assigned.published = { ...assigned.published, version: this.#nextVersion() };
    this.#context.onChange(this.published);
  }

  /** Follows nothing any more, and ends all timers. */
  stop(): void {
    this.#endpoints.stop();
  }

  #update(name: string, endpoints: readonly PoolEndpoint[], view: ClusterView): number {
    const assigned = this.#byName.get(name);
    if (assigned === undefined) return Infinity;
    const { assignment, memory, validUntilMs } = this.#assign(assigned, endpoints, view);
    assigned.memory = memory;
    const next = { assignment, leftOut: leftOutOf(endpoints, assignment) };
    if (assigned.published === null || !isSame(assigned.published, next)) {
      assigned.published = { pool: assigned.pool, version: this.#nextVersion(), ...next };
      this.#changed.push(assigned.published);
    }
    return validUntilMs;
  }

  #publishChanged(): void {
    const changed = this.#changed;
    this.#changed = [];
    if (changed.length > 0) this.#context.onChange(changed);
  }

  #assign(
    assigned: AssignedPool,
    endpoints: readonly PoolEndpoint[],
    view: ClusterView,
  ): { readonly assignment: Assignment; readonly memory: AssignmentMemory; readonly validUntilMs: number } {
    const { pool, memory } = assigned;
    const weights = new Map<string, ServerWeight>();
    const listed = endpoints.map(
      ({ member: { observation, zone, verdict, isSilent, address }, at }): EndpointMember => {
        const { name: node } = observation.node;
        const { ip, isElsewhere } = at;
        const member = { node, isElsewhere, zone, verdict, isSilent };
        const listable = address === null || ip === null ? null : { host: ip, port: address.port };
        if (pool.weight === null) return { ...member, address: listable, weight: null };
        const weight = assigned.weights.get(node) ?? new ServerWeight(pool.weight);
        weights.set(node, weight);
        const percent = isSilent ? weight.last : weight.update(weightInputOf(view, observation, verdict.fit));
        // Envoy has no weight 0.
        return { ...member, address: listable, weight: Math.max(1, percent) };
      },
    );
    assigned.weights = weights;
    const rules = { ...this.#rules, isOfPrimary: isOfPrimary(pool) };
    const next = nextAssignment(listed, memory, { rules, nowMs: view.nowMs });
    const repeatMs = pool.weight === null ? Infinity : view.nowMs + weightMs;
    return { ...next, validUntilMs: Math.min(next.validUntilMs, repeatMs) };
  }

  #nextVersion(): string {
    this.#versions = null;
    this.#changes += 1;
    return `${this.#context.instance()}-${this.#changes}`;
  }
}

const unknownPool: Omit<AssignedPool, "pool"> = {
  sessionsSinceMs: new Map(),
  memory: nothingListed,
  weights: new Map(),
  published: null,
};

/** Since when the sessions of each node may live: those that may not are left out. */
function livingSince({ pool, sessionsSinceMs }: AssignedPool, view: ClusterView): ReadonlyMap<string, number> {
  const { members } = poolMembers(view, { ...pool.check, isForSessions: true });
  const living = members.filter(({ verdict }) => verdict.fit).map(({ observation }) => observation.node.name);
  return new Map(living.map((node) => [node, sessionsSinceMs.get(node) ?? view.nowMs]));
}

function leftOutOf(endpoints: readonly PoolEndpoint[], { endpoints: assigned }: Assignment): readonly string[] {
  const listed = new Set(assigned.map(({ node }) => node));
  return endpoints
    .filter(({ member: { verdict, observation } }) => verdict.fit && !listed.has(observation.node.name))
    .map(({ member }) => member.observation.node.name);
}

function isSame(one: Omit<PublishedPool, "pool" | "version">, other: Omit<PublishedPool, "pool" | "version">): boolean {
  return JSON.stringify([one.assignment, one.leftOut]) === JSON.stringify([other.assignment, other.leftOut]);
}
