import type {
  AuditedPool,
  AuditTarget,
  FollowedCheck,
  RouteDifference,
} from "../../core/balancing/audited/audit-target.ts";
import type { TargetReading } from "../../core/balancing/audited/reading.ts";
import type { RouteSource } from "../../core/balancing/audited/route-source.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import type { CancelTimer } from "../../core/cluster/timer.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import { withoutUnsafe } from "../../core/cluster/values/unsafe-text.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import { auditedMembers, type ResolveHost } from "./audited-members.ts";
import { auditTarget, nothingSeen, type TargetMemory } from "./core/audit-target.ts";
import type { AuditedMembers, PoolTruth } from "./core/audited-pool.ts";
import { type Road, roadsOf } from "./core/road.ts";
import { type AuditedTarget, type RouteFinding, routeFindingRank } from "./core/route-finding.ts";
import { VerdictClock } from "./verdict-clock.ts";

/** What the audit depends on. */
export interface RouteAuditContext {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  /** Ends all looks, those that run too. */
  readonly scope: Pick<Scope, "setTimer" | "signal">;
  readonly resolve: ResolveHost;
  /** The findings of a cluster have changed. Must not throw. */
  readonly onChange: (cluster: string) => void;
  /** An internal error of one look. The next look follows all the same. */
  readonly onError: (target: string, error: unknown) => void;
}

/** A target, and what the last look has found. */
interface RunningTarget {
  readonly target: AuditTarget;
  memory: TargetMemory;
  findings: readonly RouteFinding[];
  roads: readonly Road[];
  lookedAtMs: number | null;
  tookMs: number | null;
  up: boolean | null;
  problem: string | null;
  cancelTimer: CancelTimer | null;
}

/** The shortest time between two looks at one target, in ms. */
const lookMinMs = 1_000;
/** How many servers of one target are compared: a hostile one must not cost the checks their time. */
const serversMax = 5_000;
/** When the first look at the first target follows, in ms: rolecall has to know the nodes. */
const firstLookMs = 500;

/**
 * Looks at each balancer and pooler again and again, and compares what it has with the snapshot. One look at a time for
 * each target; each look has a connection of its own, which it closes.
 */
export class RouteAudit {
  readonly #context: RouteAuditContext;
  readonly #verdicts: VerdictClock;
  #running: ReadonlyMap<string, RunningTarget> = new Map();
  #intervalMs = 0;

  constructor(context: RouteAuditContext) {
    this.#context = context;
    this.#verdicts = new VerdictClock(context);
  }

  /** Looks at these targets from now on, and at no others. @param intervalMs between two looks at one target */
  configure(targets: readonly AuditTarget[], intervalMs: number): void {
    const before = this.#running;
    for (const { cancelTimer } of before.values()) cancelTimer?.();
    this.#intervalMs = intervalMs;
    this.#verdicts.follow(targets.flatMap(({ pools, needsVerdicts }) => (needsVerdicts ? pools : [])));
    this.#running = new Map(
      targets.map((target) => {
        const known = before.get(target.name);
        return [target.name, known?.target.key === target.key ? { ...known, target } : newTarget(target)];
      }),
    );
    const spreadMs = intervalMs / Math.max(1, targets.length);
    for (const [at, running] of [...this.#running.values()].entries())
      this.#lookIn(running, firstLookMs + at * spreadMs);
    const gone = [...before.values()].flatMap(({ findings }) => findings.flatMap(({ clusters }) => clusters));
    for (const cluster of new Set(gone)) this.#context.onChange(cluster);
  }

  /** The state of a cluster may have changed. */
  clusterChanged(name: string): void {
    this.#verdicts.clusterChanged(name);
  }

  /** What was found that concerns a cluster, the worst first. */
  findings(cluster: string): readonly RouteFinding[] {
    return [...this.#running.values()]
      .flatMap(({ findings }) => findings.filter(({ clusters }) => clusters.includes(cluster)))
      .toSorted(byRank);
  }

  /** What is known of each target. */
  get targets(): readonly AuditedTarget[] {
    const nowMs = this.#context.now();
    return [...this.#running.values()].map(({ target, memory, findings, roads, lookedAtMs, ...last }) => ({
      target: target.name,
      program: target.program,
      address: target.address,
      clusters: clustersOf(target),
      up: last.up,
      lookedMsAgo: lookedAtMs === null ? null : Math.round(nowMs - lookedAtMs),
      tookMs: last.tookMs,
      problem: last.problem,
      servers: memory.servers.size,
      unknown: [...memory.unknown],
      unled: [...memory.unled],
      findings: findings.toSorted(byRank),
      suspected: memory.suspected.map((difference) => findingOf(target, difference)),
      roads,
    }));
  }

  /** Ends all looks, and what they found. One that runs comes to nothing. */
  stop(): void {
    this.configure([], 0);
  }

  #lookIn(running: RunningTarget, delayMs: number): void {
    running.cancelTimer = this.#context.scope.setTimer(() => void this.#look(running), Math.ceil(delayMs));
  }

  async #look(running: RunningTarget): Promise<void> {
    const { now, onError } = this.#context;
    const startMs = now();
    const reading = await readingOf(running.target.source, this.#context.scope.signal);
    if (this.#running.get(running.target.name) !== running) return;
    let lookAgainMs = Infinity;
    try {
      lookAgainMs = this.#compare(running, reading, startMs);
    } catch (error) {
      onError(running.target.name, error);
    }
    const nowMs = now();
    const waitMs = Math.min(this.#intervalMs, lookAgainMs - nowMs);
    this.#lookIn(running, Math.max(Math.min(lookMinMs, this.#intervalMs), waitMs));
  }

  /** @returns when to look again at the latest, in ms of rolecall's clock */
  #compare(running: RunningTarget, reading: TargetReading, startMs: number): number {
    const { target } = running;
    const nowMs = this.#context.now();
    const members = new Map<string, AuditedMembers | null>();
    const checks = new Map<AuditedPool, FollowedCheck["check"]>(target.pools.map((pool) => [pool, pool.check]));
    const truthOf = (pool: AuditedPool): PoolTruth | null => {
      const check = checks.get(pool);
      if (!members.has(pool.cluster)) members.set(pool.cluster, this.#membersOf(pool.cluster));
      const known = members.get(pool.cluster) ?? null;
      if (known === null || check === undefined) return null;
      if (!target.needsVerdicts) return { ...known, allowances: new Map() };
      return { ...known, allowances: this.#verdicts.of({ cluster: pool.cluster, check }) };
    };
    const context = { nowMs: startMs, pools: target.pools, truthOf };
    const { memory, lookAgainMs } = auditTarget(running.memory, reading, context);
    running.roads = roadsOf(reading, { ...context, before: running.memory, after: memory }) ?? running.roads;
    const before = running.findings;
    running.memory = memory;
    running.findings = memory.differences.map((difference) => findingOf(target, difference));
    running.lookedAtMs = nowMs;
    running.tookMs = Math.round(nowMs - startMs);
    running.up = reading.kind === "read";
    running.problem = reading.kind === "read" ? null : reading.problem;
    for (const cluster of changedClusters(before, running.findings)) this.#context.onChange(cluster);
    return lookAgainMs;
  }

  #membersOf(name: string): AuditedMembers | null {
    const { cluster, policy, resolve } = this.#context;
    const [state, ofCluster] = [cluster(name), policy(name)];
    return state === undefined || ofCluster === undefined ? null : auditedMembers(state, ofCluster, resolve);
  }
}

function newTarget(target: AuditTarget): RunningTarget {
  const never = { lookedAtMs: null, tookMs: null, up: null, problem: null, cancelTimer: null };
  return { target, memory: nothingSeen, findings: [], roads: [], ...never };
}

/** What a target says may be hostile, so that it is shown without control characters, and shortened. */
async function readingOf(source: RouteSource, signal: AbortSignal): Promise<TargetReading> {
  try {
    const pools = await source.read(signal);
    const count = pools.reduce((sum, { servers }) => sum + (servers?.length ?? 0), 0);
    if (count > serversMax) throw new Error(`it has ${count} servers, and no more than ${serversMax} are compared`);
    return { kind: "read", pools };
  } catch (error) {
    return { kind: "failed", problem: withoutUnsafe(errorMessage(error).slice(0, 200)) };
  }
}

function findingOf(target: AuditTarget, difference: RouteDifference): RouteFinding {
  const { kind, pool, server, node, sinceMs, what, isUnusable } = difference;
  return {
    kind,
    target: target.name,
    program: target.program,
    clusters: pool === null ? clustersOf(target) : [pool.cluster],
    backend: pool?.backend ?? null,
    server,
    node,
    sinceMs,
    what,
    isUnusable,
    ...(pool === null || pool.isOfPrimary ? {} : { isOfReads: true as const }),
    ...target.advise(difference),
  };
}

function clustersOf({ pools }: AuditTarget): readonly string[] {
  return [...new Set(pools.map(({ cluster }) => cluster))];
}

/** What identifies a finding of one target. */
function keyOf({ kind, backend, server, node, isUnusable }: RouteFinding): string {
  return JSON.stringify([kind, backend, server, node, isUnusable]);
}

function changedClusters(before: readonly RouteFinding[], after: readonly RouteFinding[]): ReadonlySet<string> {
  const [old, now] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
  const changed = [...before.filter((one) => !now.has(keyOf(one))), ...after.filter((one) => !old.has(keyOf(one)))];
  return new Set(changed.flatMap(({ clusters }) => clusters));
}

function byRank(one: RouteFinding, other: RouteFinding): number {
  return routeFindingRank(one) - routeFindingRank(other) || one.sinceMs - other.sinceMs;
}
