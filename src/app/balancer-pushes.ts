import type { ClusterState } from "../cluster/snapshot.ts";
import type { SetTimer } from "../cluster/timer.ts";
import type { BalancerConfig } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { OwnMetrics } from "../metrics/own-metrics.ts";
import type { Balancer, BalancerStatus } from "../push/balancer.ts";
import { HaproxyBalancer } from "../push/haproxy/haproxy-balancer.ts";
import type { ServerPool } from "../push/pool-verdicts.ts";
import { VerdictFollower } from "../push/verdict-follower.ts";

/** What the pushes depend on. */
export interface BalancerPushesContext {
  readonly log: Logger;
  readonly metrics: OwnMetrics;
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

interface RunningBalancer {
  readonly config: BalancerConfig;
  readonly balancer: Balancer;
}

/** Sends changes of verdicts to the configured balancers. Without any it holds no timer and no connection. */
export class BalancerPushes {
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
  configure(balancers: readonly BalancerConfig[]): void {
    const before = this.#running;
    const next = new Map(balancers.map((config) => [config.name, this.#keptOrNew(config)]));
    const isKept = ([name, { balancer }]: readonly [string, RunningBalancer]): boolean =>
      before.get(name)?.balancer === balancer;
    this.#running = next;
    for (const [name, { balancer }] of before) {
      if (next.get(name)?.balancer === balancer) continue;
      balancer.stop();
      if (!next.has(name)) this.#context.metrics.remove("balancerUp", { balancer: name });
    }
    const kept = [...next].filter(isKept).map(([name]) => name);
    this.#follower.configure(balancers.flatMap(poolsOf), new Set(kept));
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
      .filter(({ config }) => only === null || config.haproxy.backends.some(({ cluster }) => cluster === only))
      .map(({ balancer }) => balancer.status(only));
  }

  /** Stops. Sends nothing more: HAProxy's checks decide. */
  stop(): void {
    this.#follower.stop();
    for (const { balancer } of this.#running.values()) balancer.stop();
  }

  #keptOrNew(config: BalancerConfig): RunningBalancer {
    const known = this.#running.get(config.name);
    if (known !== undefined && JSON.stringify(known.config) === JSON.stringify(config)) return known;
    const { log, now, metrics } = this.#context;
    const current = (balancer: string): ReturnType<VerdictFollower["current"]> => this.#follower.current(balancer);
    return { config, balancer: new HaproxyBalancer(config, { log, now, metrics, current }) };
  }
}

function poolsOf({ name, haproxy }: BalancerConfig): readonly ServerPool[] {
  return haproxy.backends.map(({ name: backend, cluster, check, servers, weight }) => ({
    balancer: name,
    backend,
    cluster,
    check,
    servers,
    cutsSessions: haproxy.cutSessions,
    weight,
  }));
}
