import type { ClusterState } from "../cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import { viewAt } from "../health/evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { poolVerdicts, type ServerPool, type ServerVerdict } from "./pool-verdicts.ts";
import type { ServerChange, ServerTarget } from "./server-change.ts";
import { ServerWeight } from "../pools/weight/server-weight.ts";

/** What a follower depends on. */
export interface FollowerContext {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** Takes the changes of one balancer's servers. Must not throw and must not wait. */
  readonly onChanges: (balancer: string, changes: readonly ServerChange[]) => void;
  /** An internal error in the judgement of a cluster. It reaches neither the probes nor the timers. */
  readonly onError: (cluster: string, error: unknown) => void;
}

/** What was last found for a server. */
interface KnownServer {
  readonly target: ServerTarget | null;
  /**
   * Whether another node has replaced it since it was last fit: then its sessions were closed, if the pool does that.
   */
  readonly wasReplaced: boolean;
  /** In percent; `null` for a pool without weights. */
  readonly percent: number | null;
  readonly weight: ServerWeight | null;
}

/** A pool, and what was last found for its servers, by their names. */
interface FollowedPool {
  readonly pool: ServerPool;
  known: ReadonlyMap<string, KnownServer>;
}

/** The pools of one cluster, and how long what was found for them holds. */
interface FollowedCluster {
  readonly pools: readonly FollowedPool[];
  revision: number;
  validUntilMs: number;
  cancelTimer: CancelTimer | null;
}

/** The longest time between two updates of a weight, in ms: it also changes with time. */
const weightMs = 1_000;
/**
 * Some verdicts hold only at the instant of judging (a replica that lags behind a silent leader). Without a change they
 * are judged again after this time, in ms.
 */
const repeatMs = 100;
/** After an internal error a cluster is judged again in this time, in ms, even without a change. */
const retryMs = 1_000;
/** The longest delay of a timer in Node, in ms. */
const delayMaxMs = 2 ** 31 - 1;

/**
 * Finds the changes of verdicts for the servers of balancers. It judges a cluster when its state has changed, and when
 * time alone may change a verdict: one timer for each cluster that has servers to follow.
 */
export class VerdictFollower {
  readonly #context: FollowerContext;
  #clusters = new Map<string, FollowedCluster>();

  constructor(context: FollowerContext) {
    this.#context = context;
  }

  /**
   * Follows these pools from now on.
   * @param unchanged names the balancers of which the last verdicts are kept: they get changes only
   */
  configure(pools: readonly ServerPool[], unchanged: ReadonlySet<string>): void {
    const before = this.#clusters;
    this.stop();
    for (const name of new Set(pools.map(({ cluster }) => cluster))) {
      const known = before.get(name)?.pools.filter(({ pool }) => unchanged.has(pool.balancer)) ?? [];
      this.#clusters.set(name, {
        pools: pools
          .filter(({ cluster }) => cluster === name)
          .map((pool) => ({ pool, known: known.find((one) => isSamePool(one.pool, pool))?.known ?? new Map() })),
        revision: -1,
        validUntilMs: -Infinity,
        cancelTimer: null,
      });
      this.clusterChanged(name);
    }
  }

  /** Judges a cluster whose state may have changed. Does not throw: after an internal error it is judged again. */
  clusterChanged(name: string): void {
    const followed = this.#clusters.get(name);
    if (followed === undefined) return;
    try {
      this.#judge(name, followed);
    } catch (error) {
      this.#context.onError(name, error);
      followed.revision = -1;
      followed.validUntilMs = -Infinity;
      this.#schedule(name, followed, retryMs);
    }
  }

  /** What the servers of a balancer should be now, by the last verdicts. Closes no sessions. */
  current(balancer: string): readonly ServerChange[] {
    const atMs = this.#context.now();
    const followed = [...this.#clusters.values()].flatMap(({ pools }) => pools);
    return followed
      .filter(({ pool }) => pool.balancer === balancer)
      .flatMap(({ pool, known }) =>
        [...known].flatMap(([server, { target, percent }]) =>
          target !== null || percent !== null
            ? [{ backend: pool.backend, server, target, weight: percent, cutsSessions: false, atMs }]
            : [],
        ),
      );
  }

  /** Follows nothing any more, and ends all timers. */
  stop(): void {
    for (const { cancelTimer } of this.#clusters.values()) cancelTimer?.();
    this.#clusters = new Map();
  }

  #judge(name: string, followed: FollowedCluster): void {
    const cluster = this.#context.cluster(name);
    const policy = this.#context.policy(name);
    if (cluster === undefined || policy === undefined) return;
    const nowMs = this.#context.now();
    if (cluster.revision === followed.revision && nowMs < followed.validUntilMs) return;
    const view = viewAt(cluster, policy, nowMs);
    let validUntilMs = Infinity;
    const changes = new Map<string, ServerChange[]>();
    for (const each of followed.pools) {
      const { pool } = each;
      const { servers, validUntilMs: untilMs } = poolVerdicts(view, pool);
      validUntilMs = Math.min(validUntilMs, untilMs, pool.weight === null ? Infinity : nowMs + weightMs);
      const known = new Map<string, KnownServer>();
      for (const verdict of servers) {
        const last = each.known.get(verdict.server);
        const next = knownAfter(last, pool, verdict);
        known.set(verdict.server, next);
        const change = changeOf(last, next, { pool, verdict });
        if (change !== null)
          changes.set(pool.balancer, [...(changes.get(pool.balancer) ?? []), { ...change, atMs: nowMs }]);
      }
      each.known = known;
    }
    followed.revision = cluster.revision;
    followed.validUntilMs = validUntilMs;
    this.#schedule(name, followed, validUntilMs - nowMs);
    for (const [balancer, found] of changes) this.#context.onChanges(balancer, found);
  }

  #schedule(name: string, followed: FollowedCluster, delayMs: number): void {
    followed.cancelTimer?.();
    followed.cancelTimer = null;
    if (delayMs === Infinity) return;
    const waitMs = delayMs > 0 ? Math.min(delayMaxMs, Math.ceil(delayMs)) : repeatMs;
    followed.cancelTimer = this.#context.setTimer(() => this.#onTimer(name, followed), waitMs);
  }

  /** A timer may fire slightly early, or before a time that is too far away for one timer. */
  #onTimer(name: string, followed: FollowedCluster): void {
    const leftMs = followed.validUntilMs - this.#context.now();
    if (leftMs > 0) this.#schedule(name, followed, leftMs);
    else this.clusterChanged(name);
  }
}

function knownAfter(
  last: KnownServer | undefined,
  pool: ServerPool,
  { target, isReplaced, weightInput }: ServerVerdict,
): KnownServer {
  const weight = pool.weight === null ? null : (last?.weight ?? new ServerWeight(pool.weight));
  const percent = weight === null || weightInput === null ? null : weight.update(weightInput);
  const wasReplaced = target !== "up" && (isReplaced || last?.wasReplaced === true);
  return { target, wasReplaced, percent, weight };
}

/** Compares a verdict with the last one of the server. Sessions are closed on a change: a first verdict is none. */
function changeOf(
  last: KnownServer | undefined,
  { target, percent }: KnownServer,
  { pool, verdict }: { readonly pool: ServerPool; readonly verdict: ServerVerdict },
): Omit<ServerChange, "atMs"> | null {
  const cutsSessions = pool.cutsSessions && verdict.isReplaced && last !== undefined && !last.wasReplaced;
  const newTarget = target === last?.target ? null : target;
  const weight = percent === last?.percent ? null : percent;
  if (newTarget === null && weight === null && !cutsSessions) return null;
  return { backend: pool.backend, server: verdict.server, target: newTarget, weight, cutsSessions };
}

function isSamePool(one: ServerPool, other: ServerPool): boolean {
  return one.balancer === other.balancer && one.backend === other.backend;
}
