import type { ClusterState } from "../cluster/snapshot.ts";
import type { SetTimer } from "../cluster/timer.ts";
import { nodeNamed } from "../cluster/lookup.ts";
import type { DatabaseAddress } from "../cluster/node.ts";
import type { BalancerConfig, Config, PoolerConfig } from "../config/model/config.ts";
import type { Balancers } from "../feature/offers.ts";
import type { Logger } from "../log/logger.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { PushCounter } from "../push/push-counter.ts";
import type { Balancer, BalancerContext, BalancerStatus, LeadTo } from "../push/balancer.ts";
import { clusterMembers, type ClusterMembers } from "../push/cluster-members.ts";
import { HaproxyBalancer } from "../push/haproxy/haproxy-balancer.ts";
import { PgbouncerBalancer } from "../push/pgbouncer/pgbouncer-balancer.ts";
import { isOfPrimary, type ServerPool } from "../push/pool-verdicts.ts";
import { VerdictFollower } from "../push/verdict-follower.ts";

/** What the pushes depend on. */
export interface BalancerPushesContext {
  readonly log: Logger;
  readonly metrics: PushCounter & {
    /** Forgets a balancer that is not configured any more. */
    remove(name: "balancerUp", labels: { readonly balancer: string }): void;
  };
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

/** What is pushed to: the pools that it gets the verdicts of, and how it is made. */
interface PushTarget {
  /** Its name in metrics and logs, which no other one has. */
  readonly name: string;
  readonly config: BalancerConfig | PoolerConfig;
  readonly pools: readonly ServerPool[];
  readonly create: (context: BalancerContext) => Balancer;
}

interface RunningBalancer {
  readonly target: PushTarget;
  readonly balancer: Balancer;
}

/** Why clients of a balancer are not led that a reload has removed. */
export function notConfigured(balancer: string): string {
  return `${balancer} is not configured any more`;
}

/** Sends changes of verdicts to the configured balancers. Without any it holds no timer and no connection. */
export class BalancerPushes implements Balancers {
  readonly #context: BalancerPushesContext;
  readonly #follower: VerdictFollower;
  #running: ReadonlyMap<string, RunningBalancer> = new Map();

  constructor(context: BalancerPushesContext) {
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

  /** Sends to these balancers from now on. A balancer whose configuration stays keeps its connection and verdicts. */
  configure(config: Pick<Config, "balancers" | "poolers">): void {
    const targets = [
      ...config.balancers.map((balancer) => this.#haproxy(balancer)),
      ...config.poolers.flatMap((pooler) => this.#pooler(pooler)),
    ];
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

  /** Stops. Sends nothing more: HAProxy's checks decide, and a PgBouncer keeps its last server. */
  stop(): void {
    this.#follower.stop();
    for (const { balancer } of this.#running.values()) balancer.stop();
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
    const { name, config } = target;
    const known = this.#running.get(name);
    if (known !== undefined && JSON.stringify(known.target.config) === JSON.stringify(config))
      return { ...known, target };
    const { log, now, metrics } = this.#context;
    const current = (): ReturnType<VerdictFollower["current"]> => this.#follower.current(name);
    return { target, balancer: target.create({ log, now, metrics, current }) };
  }

  /** A pooler whose databases have files. Others lead to a balancer, which is pushed to itself. */
  #pooler(config: PoolerConfig): readonly PushTarget[] {
    const { name } = config;
    const databases = config.databases.filter(({ file }) => file !== null);
    if (databases.length === 0) return [];
    const pools = databases.map(({ name: backend, cluster, check }): ServerPool => ({
      balancer: name,
      backend,
      cluster,
      check,
      servers: null,
      cutsSessions: false,
      weight: null,
    }));
    const addressOf = (cluster: string, node: string): DatabaseAddress | null => {
      const state = this.#context.cluster(cluster);
      return (state === undefined ? undefined : nodeNamed(state, node))?.node.database ?? null;
    };
    return [{ name, config, pools, create: (context) => new PgbouncerBalancer(config, { ...context, addressOf }) }];
  }

  #haproxy(config: BalancerConfig): PushTarget {
    const { name, haproxy } = config;
    const pools = haproxy.backends.map(({ name: backend, cluster, check, servers, weight }) => ({
      balancer: name,
      backend,
      cluster,
      check,
      servers,
      cutsSessions: haproxy.cutSessions,
      weight,
    }));
    const { cluster, policy } = this.#context;
    const members = (of: string): ClusterMembers => clusterMembers(cluster(of), policy(of));
    return { name, config, pools, create: (context) => new HaproxyBalancer(config, { ...context, members }) };
  }
}
