import type { CancelTimer } from "../../core/cluster/timer.ts";
import { isOwnFailure } from "../../core/cluster/values/failure.ts";
import type { PoolerConfig } from "../../core/config/model/config.ts";
import { formatPoolerAddress, socketOf } from "../../core/config/values/pooler-address.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { CheckCompanion, CompanionTarget, RunningCheck } from "../../core/probe/client/companion-check.ts";
import type { KnownPooler } from "./conditions.ts";
import { nextPoolerPhase, type PoolerPhase } from "./pooler-phase.ts";

/** What it depends on. */
export interface PoolerWatchContext {
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly scope: Pick<Scope, "setTimer">;
  /** Checks one pooler. */
  readonly check: CheckCompanion;
  /** Whether a pooler of the cluster answers has changed. Must not throw. */
  readonly onChange: (cluster: string) => void;
}

interface WatchedPooler {
  readonly config: PoolerConfig;
  readonly key: string;
  phase: PoolerPhase;
  running: RunningCheck | null;
  cancelTimer: CancelTimer | null;
}

/** How often each pooler is checked, in ms; and while it fails. */
const intervalMs = 3_000;
const failingIntervalMs = 1_000;
/** How long one check may take, in ms. */
const limitMs = 2_000;
const problemMax = 200;

/**
 * Checks each configured PgBouncer as a client begins: it connects and asks for TLS, which needs no credentials, and of
 * which PgBouncer logs nothing. One check at a time for each, each with a connection of its own.
 */
export class PoolerWatch {
  readonly #context: PoolerWatchContext;
  #watched: ReadonlyMap<string, WatchedPooler> = new Map();

  constructor(context: PoolerWatchContext) {
    this.#context = context;
  }

  /** Checks these poolers from now on, and no others. */
  configure(poolers: readonly PoolerConfig[]): void {
    const before = this.#watched;
    const next = new Map<string, WatchedPooler>();
    for (const config of poolers) {
      const known = before.get(config.name);
      const key = JSON.stringify([config.pgbouncer.address, clustersOf(config)]);
      const isKept = known?.key === key;
      next.set(config.name, isKept ? Object.assign(known, { config }) : newPooler(config, key));
    }
    this.#watched = next;
    const changed = new Set<string>();
    for (const [name, old] of before) {
      if (next.get(name) === old) continue;
      end(old);
      for (const cluster of clustersOf(old.config)) changed.add(cluster);
    }
    const added = [...next.values()].filter(
      (one) => !before.has(one.config.name) || before.get(one.config.name) !== one,
    );
    for (const [at, one] of added.entries()) this.#checkIn(one, Math.ceil((at * intervalMs) / added.length));
    for (const cluster of changed) this.#context.onChange(cluster);
  }

  /** Ends all checks, and forgets what they found. */
  stop(): void {
    for (const one of this.#watched.values()) end(one);
    this.#watched = new Map();
  }

  /** What is known of the poolers that lead to a cluster. */
  poolersOf(cluster: string): readonly KnownPooler[] {
    return [...this.#watched.values()]
      .filter(({ config }) => clustersOf(config).includes(cluster))
      .map(({ config: { name, pgbouncer }, phase }) => ({
        pooler: name,
        address: formatPoolerAddress(pgbouncer.address),
        dead: phase.kind === "down" ? phase : null,
      }));
  }

  /** Whether each pooler answers, for each cluster that it leads to: those that have been checked. */
  get states(): readonly { readonly pooler: string; readonly cluster: string; readonly up: boolean }[] {
    return [...this.#watched.values()].flatMap(({ config, phase }) =>
      phase.kind === "unknown"
        ? []
        : clustersOf(config).map((cluster) => ({ pooler: config.name, cluster, up: phase.kind !== "down" })),
    );
  }

  #checkIn(one: WatchedPooler, delayMs: number): void {
    one.cancelTimer = this.#context.scope.setTimer(() => void this.#check(one), delayMs);
  }

  async #check(one: WatchedPooler): Promise<void> {
    const { now, check, onChange } = this.#context;
    const sentAtMs = now();
    one.running = check(targetOf(one.config), { connectTimeoutMs: limitMs, timeoutMs: limitMs });
    const failure = await one.running.ended;
    one.running = null;
    if (this.#watched.get(one.config.name) !== one) return;
    const endedAtMs = now();
    // A check that took much longer than it may says that this process was late.
    const isOurs = failure !== null && (isOwnFailure(failure) || endedAtMs - sentAtMs > 2 * limitMs + 500);
    if (!isOurs) {
      const before = one.phase;
      const problem = failure === null ? null : failure.detail.slice(0, problemMax);
      one.phase = nextPoolerPhase(before, { sentAtMs, endedAtMs, problem });
      if ((before.kind === "down") !== (one.phase.kind === "down"))
        for (const cluster of clustersOf(one.config)) onChange(cluster);
    }
    this.#checkIn(one, one.phase.kind === "failing" || one.phase.kind === "down" ? failingIntervalMs : intervalMs);
  }
}

function newPooler(config: PoolerConfig, key: string): WatchedPooler {
  return { config, key, phase: { kind: "unknown" }, running: null, cancelTimer: null };
}

function end({ running, cancelTimer }: WatchedPooler): void {
  cancelTimer?.();
  running?.cancel();
}

function clustersOf({ databases }: PoolerConfig): readonly string[] {
  return [...new Set(databases.map(({ cluster }) => cluster))];
}

function targetOf({ pgbouncer: { address } }: PoolerConfig): CompanionTarget {
  const asked = { kind: "pgbouncer", path: "/" } as const;
  return "host" in address
    ? { ...address, ...asked }
    : { host: "localhost", port: address.port, socket: socketOf(address), ...asked };
}
