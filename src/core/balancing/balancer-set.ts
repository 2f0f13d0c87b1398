import type { ClusterState } from "../cluster/snapshot.ts";
import type { SetTimer } from "../cluster/timer.ts";
import type { Config } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { PushCounter } from "./push-counter.ts";
import type { Balancer, BalancerContext, Balancers, BalancerStatus, LeadTo } from "./balancer.ts";
import { isOfPrimary, type ServerPool } from "./pool-verdicts.ts";
import { VerdictFollower } from "./verdict-follower.ts";

/** What the pushes depend on. */
export interface BalancerSetContext extends PushedClusters {
  readonly log: Logger;
  readonly metrics: PushCounter & {
    /** Forgets a balancer that is not configured any more. */
    remove(name: "balancerUp", labels: { readonly balancer: string }): void;
  };
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

/** What is pushed to: the pools that it gets the verdicts of, and how it is made. */
export interface PushTarget {
  /** Its name in metrics and logs, which no other one has. */
  readonly name: string;
  /** What identifies it over reloads: one that stays keeps its connection and its verdicts. */
  readonly key: string;
  readonly pools: readonly ServerPool[];
  readonly create: (context: BalancerContext) => Balancer;
}

/** Where balancers read the members of clusters. */
export interface PushedClusters {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
}

/** The balancers of a configuration that are pushed to. */
export type FindPushTargets = (
  config: Pick<Config, "balancers" | "poolers">,
  clusters: PushedClusters,
) => readonly PushTarget[];

interface RunningBalancer {
  readonly target: PushTarget;
  readonly balancer: Balancer;
}

/** Sends changes of verdicts to the configured balancers. Without any it holds no timer and no connection. */
export class BalancerSet implements Balancers {
  readonly #context: BalancerSetContext;
  readonly #follower: VerdictFollower;
  #running: ReadonlyMap<string, RunningBalancer> = new Map();

  constructor(context: BalancerSetContext) {
    const { cluster, policy, now, setTimer } = context;
    this.#context = context;
    this.#follower = new VerdictFollower({
      cluster,
      policy,
      now,
      setTimer,
      onChanges: (balancer, changes) => this.#running.get(balancer)?.balancer.push(changes),
      onError: (name, error) => context.log.error({ err: error, cluster: name }, "balancers not updated"),
    });
  }

  /** Sends to these balancers from now on, and to no others. */
  configure(targets: readonly PushTarget[]): void {
    const before = this.#running;
    const next = new Map(targets.map((target) => [target.name, this.#keptOrNew(target)]));
    const isKept = ([name, { balancer }]: readonly [string, RunningBalancer]): boolean =>
      before.get(name)?.balancer === balancer;
    this.#running = next;
    for (const [name, { balancer }] of before) {
      if (next.get(name)?.balancer === balancer) continue;
      balancer.stop();
      if (!next.has(name)) this.#context.metrics.remove("balancerUp", { balancer: name });
    }
    const kept = [...next].filter(isKept).map(([name]) => name);
    this.#follower.configure(
      targets.flatMap(({ pools }) => pools),
      new Set(kept),
    );
    for (const entry of next) if (!isKept(entry)) entry[1].balancer.start();
  }

  /** Judges the servers of a cluster whose state has changed. */
  clusterChanged(cluster: string): void {
    this.#follower.clusterChanged(cluster);
  }

  /**
   * What is known of each balancer now.
   * @param only one that has servers of this cluster, and those alone; `null`: all
   */
  statuses(only: string | null): readonly BalancerStatus[] {
    return [...this.#running.values()]
      .filter(({ target: { pools } }) => only === null || pools.some(({ cluster }) => cluster === only))
      .map(({ balancer }) => balancer.status(only));
  }

  /** Sends nothing more, and forgets all. */
  stop(): void {
    this.configure([]);
    this.#follower.stop();
  }

  /** The names of the balancers that lead clients to the primary of a cluster. */
  leadingToPrimary(cluster: string): readonly string[] {
    return [...this.#running.values()]
      .filter(({ target: { pools } }) => pools.some((pool) => pool.cluster === cluster && isOfPrimary(pool)))
      .map(({ target: { name } }) => name);
  }

  /**
   * Makes sure that a balancer leads the clients of a cluster's primary to a node, as {@link Balancer.lead}.
   * @returns `undefined` if there is no balancer of this name here
   */
  lead(balancer: string, to: LeadTo, limitMs: number): Promise<string | null> | undefined {
    return this.#running.get(balancer)?.balancer.lead(to, limitMs);
  }

  /** All balancers that are pushed to are waited for. */
  uncounted(): readonly [] {
    return [];
  }

  #keptOrNew(target: PushTarget): RunningBalancer {
    const { name, key } = target;
    const known = this.#running.get(name);
    if (known?.target.key === key) return { ...known, target };
    const { log, now, metrics } = this.#context;
    const current = (): ReturnType<VerdictFollower["current"]> => this.#follower.current(name);
    return { target, balancer: target.create({ log, now, metrics, current }) };
  }
}
