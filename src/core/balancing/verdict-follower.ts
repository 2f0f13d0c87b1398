import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { ServerWeight } from "../pools/weight/server-weight.ts";
import { ClusterJudge, type JudgeContext } from "./cluster-judge.ts";
import { poolVerdicts, type ServerPool, type ServerVerdict } from "./pool-verdicts.ts";
import type { ServerChange, ServerTarget } from "./server-change.ts";

/** What a follower depends on. */
export interface FollowerContext extends JudgeContext {
  /** Takes the changes of one balancer's servers. Must not throw and must not wait. */
  readonly onChanges: (balancer: string, changes: readonly ServerChange[]) => void;
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

/** The longest time between two updates of a weight, in ms: it also changes with time. */
const weightMs = 1_000;
/** Finds the changes of verdicts for the servers of balancers. */
export class VerdictFollower {
  readonly #context: FollowerContext;
  readonly #judge: ClusterJudge;
  #pools: readonly FollowedPool[] = [];

  constructor(context: FollowerContext) {
    this.#context = context;
    this.#judge = new ClusterJudge(context, (name, view) => this.#update(name, view));
  }

  /**
   * Follows these pools from now on.
   * @param unchanged names the balancers of which the last verdicts are kept: they get changes only
   */
  configure(pools: readonly ServerPool[], unchanged: ReadonlySet<string>): void {
    const before = this.#pools.filter(({ pool }) => unchanged.has(pool.balancer));
    this.#pools = pools.map((pool) => ({
      pool,
      known: before.find((one) => isSamePool(one.pool, pool))?.known ?? new Map(),
    }));
    this.#judge.follow(new Set(pools.map(({ cluster }) => cluster)));
  }

  /** Judges a cluster whose state may have changed. Does not throw: after an internal error it is judged again. */
  clusterChanged(name: string): void {
    this.#judge.clusterChanged(name);
  }

  /** What the servers of a balancer should be now, by the last verdicts. Closes no sessions. */
  current(balancer: string): readonly ServerChange[] {
    const atMs = this.#context.now();
    return this.#pools
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
    this.#judge.stop();
    this.#pools = [];
  }

  #update(name: string, view: ClusterView): number {
    let validUntilMs = Infinity;
    const changes = new Map<string, ServerChange[]>();
    for (const each of this.#pools) {
      const { pool } = each;
      if (pool.cluster !== name) continue;
      const { servers, validUntilMs: untilMs } = poolVerdicts(view, pool);
      validUntilMs = Math.min(validUntilMs, untilMs, pool.weight === null ? Infinity : view.nowMs + weightMs);
      const known = new Map<string, KnownServer>();
      for (const verdict of servers) {
        const last = each.known.get(verdict.server);
        const next = knownAfter(last, pool, verdict);
        known.set(verdict.server, next);
        const change = changeOf(last, next, { pool, verdict });
        if (change !== null)
          changes.set(pool.balancer, [...(changes.get(pool.balancer) ?? []), { ...change, atMs: view.nowMs }]);
      }
      each.known = known;
    }
    for (const [balancer, found] of changes) this.#context.onChanges(balancer, found);
    return validUntilMs;
  }
}

function knownAfter(
  last: KnownServer | undefined,
  pool: ServerPool,
  { target, isReplaced, weightInput }: ServerVerdict,
): KnownServer {
  const weight = pool.weight === null ? null : (last?.weight ?? new ServerWeight(pool.weight));
  const percentNow = (): number | null => (weight === null || weightInput === null ? null : weight.update(weightInput));
  // The weight of a server of which nothing is known stays.
  const percent = target === null && last !== undefined && weight !== null ? last.percent : percentNow();
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
