import type { Config, PoolerConfig } from "../../config/model/config.ts";
import type { ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import { loopWaitMs } from "../../health/evidence/node/freshness.ts";
import { isOfPrimary } from "../../push/pool-verdicts.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";
import type { SwitchoverPlan, SwitchoverStart } from "../machine/plan.ts";

/** A seamless switchover that is asked for. Nodes have their names in the configuration. */
export interface SwitchoverRequest {
  readonly cluster: string;
  /** `null`: whichever leads. */
  readonly leader: string | null;
  /** `null`: the cluster elects one. */
  readonly candidate: string | null;
  readonly isDryRun: boolean;
  readonly start: SwitchoverStart;
  /** Whether poolers may be paused that no peer reaches. */
  readonly isUnguarded: boolean;
  /** From the first PAUSE until everything is resumed, in ms. */
  readonly deadlineMs: number;
  /** How long a route is waited for that cannot be read, in ms. */
  readonly routeWaitMs: number;
}

/** The route of clients whose balancer is neither pushed to nor read: its checks are waited for. */
export const checkedRouteName = "checks";

/** What is not known from the request alone. */
export interface PlanSources {
  readonly config: Pick<Config, "poolers">;
  readonly view: ClusterView;
  readonly run: string;
  /** What is paused. */
  readonly targets: readonly IntendedPause[];
  /** The names of the balancers that lead clients to the primary of the cluster. */
  readonly balancers: readonly string[];
  readonly peers: readonly string[];
}

/** Times in ms that no request changes. The checks take less than 2 s if every console answers. */
const limits = { checkMs: 15_000, armMs: 5_000, silenceMs: 1_000, resumeMs: 250, followMs: 60_000 };

/** Of a switchover that is announced: its caller waits at most a second until clients are held, and then its database stops. */
const announcedLimits = { checkMs: 500, armMs: 700, quietMs: 3_000 };

/** Says what a seamless switchover does. */
export function planOf(
  request: SwitchoverRequest,
  { config, view, run, targets, balancers, peers }: PlanSources,
): SwitchoverPlan {
  const { cluster, candidate, isDryRun, start, deadlineMs } = request;
  return {
    run,
    cluster,
    leader: request.leader ?? view.lock.holder ?? "",
    candidate,
    isDryRun,
    start,
    targets: targets.map(({ pooler, database }) => ({ pooler, database })),
    routes: isCheckedOnly(config, cluster, balancers) ? [...balancers, checkedRouteName] : balancers,
    peers,
    limits: {
      ...limits,
      quietMs: loopWaitMs(view.cluster),
      ...(start === "announced" ? announcedLimits : {}),
      pauseMs: pauseLimitMs(config.poolers, targets),
      deadlineMs,
    },
  };
}

/**
 * Whether a database of the cluster's poolers leads to balancers that only check rolecall.
 * @param balancers the names of those that rolecall leads to the primary of the cluster
 */
export function isCheckedOnly(
  { poolers }: Pick<Config, "poolers">,
  cluster: string,
  balancers: readonly string[],
): boolean {
  const isPushed = balancers.some((name) => poolers.every((pooler) => pooler.name !== name));
  const areRouted = poolers.every(({ databases }) =>
    databases.every((database) => database.cluster !== cluster || !isOfPrimary(database) || database.file !== null),
  );
  return !isPushed && !areRouted;
}

/** The databases of poolers that lead to the primary of a cluster, and how their consoles are reached. */
export function pausedBy({ poolers }: Pick<Config, "poolers">, cluster: string): readonly IntendedPause[] {
  return poolers.flatMap(({ name, pgbouncer: { address, user, passwordFile, tls }, databases }) =>
    databases
      .filter((database) => database.cluster === cluster && isOfPrimary(database))
      .map((database) => ({ pooler: name, database: database.name, console: { address, user, passwordFile, tls } })),
  );
}

/** The shortest `pause_limit` of the poolers: all are resumed as soon as one has waited too long. */
function pauseLimitMs(poolers: readonly PoolerConfig[], targets: readonly IntendedPause[]): number {
  const own = poolers.filter(({ name }) => targets.some(({ pooler }) => pooler === name));
  return Math.min(...own.map(({ pauseLimitMs: limitMs }) => limitMs));
}
