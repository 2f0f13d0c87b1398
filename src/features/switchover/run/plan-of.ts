import type { Config, PooledDatabaseConfig, PoolerConfig } from "../../../core/config/model/config.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { loopWaitMs } from "../../../core/health/evidence/node/freshness.ts";
import { isOfPrimary } from "../../../core/balancing/pool-verdicts.ts";
import type { FinishIntent, IntendedPause, PauseIntent } from "../intent/pause-intent.ts";
import {
  checkedRouteName,
  type PlannedRoute,
  type RestartRequest,
  type SwitchoverPlan,
  type SwitchoverStart,
} from "../machine/plan.ts";

/** A seamless switchover that is asked for. Nodes have their names in the configuration. */
export interface SwitchoverRequest {
  readonly cluster: string;
  /** `null`: whichever leads. */
  readonly leader: string | null;
  /** `null`: the cluster elects one. */
  readonly candidate: string | null;
  readonly isDryRun: boolean;
  readonly start: SwitchoverStart;
  /** What is restarted; `null`: nothing is. Then `leader` names the node. */
  readonly restart: RestartRequest | null;
  /** Whether poolers may be paused that no peer reaches. */
  readonly isUnguarded: boolean;
  /** From the first PAUSE until everything is resumed, in ms. */
  readonly deadlineMs: number;
  /** How long a route is waited for that cannot be read, in ms. */
  readonly routeWaitMs: number;
}

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
const limits = {
  checkMs: 15_000,
  claimMs: 3_000,
  armMs: 5_000,
  tellMs: 1_000,
  lookMs: 2_000,
  silenceMs: 1_000,
  resumeMs: 250,
  settleMs: 5_000,
  refusedMs: 1_000,
  followMs: 60_000,
};

/** Of a switchover that is announced: its caller waits at most a second until clients are held, and then its database stops. */
const announcedLimits = { checkMs: 500, claimMs: 400, armMs: 700, quietMs: 3_000 };
/**
 * After a loss each moment costs errors, but a run that gives up costs all of them: on a machine that is busy just then,
 * getting ready takes a second.
 */
const lossLimits = { ...announcedLimits, armMs: limits.lookMs };

/**
 * How long the old leader is the primary, with nothing pending in the DCS, until a process that finishes the run of another
 * one concludes that nothing was requested, in ms.
 */
export const finishingQuietMs = 3_000;

/** What the held times are kept under that a run is forecast from: those of a cluster's switchovers, or a node's restarts. */
export function heldKeyOf({ cluster, start, leader }: Pick<SwitchoverPlan, "cluster" | "start" | "leader">): string {
  return start === "restart" ? `${cluster}/${leader}` : cluster;
}

/** Says what a seamless switchover does. */
export function planOf(
  request: SwitchoverRequest,
  { config, view, run, targets, balancers, peers }: PlanSources,
): SwitchoverPlan {
  const { cluster, candidate, isDryRun, start, restart, deadlineMs } = request;
  return {
    run,
    cluster,
    leader: request.leader ?? view.lock.holder ?? "",
    candidate,
    isDryRun,
    start,
    restart: restart === null ? null : { isLeader: restart.isLeader, startedAt: restart.startedAt },
    ...waysOf({ config, cluster, targets, balancers }),
    peers,
    cutsAtEnd: start === "loss" && cutsAtEnd(config, targets),
    limits: {
      ...limits,
      quietMs: start === "restart" ? finishingQuietMs : loopWaitMs(view.cluster),
      ...(start === "announced" ? announcedLimits : {}),
      // The hold is over, and is told. What leads databases to primaries leads them to one that comes later, too.
      ...(start === "loss" ? { ...lossLimits, followMs: 0 } : {}),
      pauseMs: pauseLimitMs(config.poolers, targets),
      deadlineMs,
    },
  };
}

/**
 * The plan by which this process finishes the run of another one: its targets are those of the run, and it leads what it
 * reaches itself.
 */
export function finishingPlan(
  { run, cluster, finish }: PauseIntent & { readonly finish: FinishIntent },
  { config, targets, balancers }: Pick<PlanSources, "config" | "targets" | "balancers">,
  peers: readonly string[],
): SwitchoverPlan {
  const { leader, candidate, start, restart = null } = finish;
  const ways = waysOf({ config, cluster, targets, balancers });
  const times = { quietMs: finishingQuietMs, pauseMs: limits.silenceMs, deadlineMs: 0 };
  const cuts = start === "loss" && cutsAtEnd(config, targets);
  return {
    run,
    cluster,
    leader,
    candidate,
    isDryRun: false,
    start,
    restart,
    ...ways,
    peers,
    cutsAtEnd: cuts,
    limits: { ...limits, ...times },
  };
}

/** Whether clients that still wait at the end of a hold are cut (`hold_end: fail`). All poolers of a cluster say the same. */
function cutsAtEnd({ poolers }: Pick<Config, "poolers">, targets: readonly IntendedPause[]): boolean {
  return targets.some(({ pooler }) => poolers.find(({ name }) => name === pooler)?.holdEnd === "fail");
}

/** The databases whose clients are held after a loss, and for how long at most, in ms; `null`: none. */
export function heldOnLoss(
  config: Pick<Config, "poolers">,
  cluster: string,
): { readonly targets: readonly IntendedPause[]; readonly limitMs: number } | null {
  const poolers = config.poolers.filter(({ holdOnLossMs }) => holdOnLossMs !== null);
  const targets = pausedBy({ poolers }, cluster);
  const [first] = targets;
  const limitMs = poolers.find(({ name }) => name === first?.pooler)?.holdOnLossMs ?? null;
  return limitMs === null ? null : { targets, limitMs };
}

/**
 * The way of the clients of each target: the file of its database, or else every balancer that leads to the primary of the
 * cluster. Databases that do not follow the primary, which only a restart pauses, have none.
 */
function waysOf({
  config: { poolers },
  cluster,
  targets,
  balancers,
}: Pick<PlanSources, "config" | "targets" | "balancers"> & {
  readonly cluster: string;
}): Pick<SwitchoverPlan, "targets" | "routes"> {
  const configOf = ({ pooler, database }: IntendedPause): PooledDatabaseConfig | undefined =>
    poolers.find(({ name }) => name === pooler)?.databases.find(({ name }) => name === database);
  const follows = (target: IntendedPause): boolean => {
    const config = configOf(target);
    return config === undefined || isOfPrimary(config);
  };
  const others = balancers.filter((name) => poolers.every((pooler) => pooler.name !== name));
  const shared = [...others, ...(isCheckedOnly({ poolers }, cluster, balancers) ? [checkedRouteName] : [])];
  const following = targets.filter(follows);
  const ofFiles = following.filter((target) => (configOf(target)?.file ?? null) !== null);
  const areShared = ofFiles.length < following.length;
  const routes: readonly PlannedRoute[] = [
    ...ofFiles.map(({ pooler, database }) => ({ balancer: pooler, database })),
    ...(areShared ? shared.map((balancer) => ({ balancer, database: null })) : []),
  ];
  const shares = routes.flatMap(({ database }, at) => (database === null ? [at] : []));
  return {
    routes,
    targets: targets.map((target) => ({
      pooler: target.pooler,
      database: target.database,
      routes: ofFiles.includes(target) ? [ofFiles.indexOf(target)] : follows(target) ? shares : [],
    })),
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
