import type { CancelTimer } from "../../core/cluster/timer.ts";
import type { Config } from "../../core/config/model/config.ts";
import type { Scope } from "../../core/feature/scope.ts";
import {
  afterTry,
  type CanaryKind,
  type CanaryState,
  isFailing,
  kindOf,
  type KnownCanary,
  type ReachedServer,
  type TryOutcome,
} from "./core/canary.ts";
import type { TryContext } from "./canary-try.ts";
import type { CanaryConfig } from "./config/canary-schema.ts";

/** Makes one try of a canary. */
export type MakeTry = (config: CanaryConfig, kind: CanaryKind, context: TryContext) => Promise<TryOutcome>;

/** What canaries depend on. */
export interface CanariesContext {
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Ends all tries. */
  readonly scope: Pick<Scope, "setTimer" | "signal">;
  /** Names this rolecall in the table, over restarts. */
  readonly instanceOf: (config: Config) => string;
  readonly makeTry: MakeTry;
  /** The system identifier of a cluster's nodes; `null` while it is not known. */
  readonly systemOf: (cluster: string) => string | null;
  /** The node of a cluster that a server is; `null`: not known. */
  readonly nodeOf: (cluster: string, server: ReachedServer) => string | null;
  /** A try has ended. */
  readonly onTried: (canary: KnownCanary) => void;
  /** What is found of a cluster may have changed. Must not throw. */
  readonly onChange: (cluster: string) => void;
  /** An internal error of one try. The next follows all the same. */
  readonly onError: (canary: KnownCanary, error: unknown) => void;
}

interface RunningCanary {
  readonly key: string;
  known: KnownCanary;
  readonly config: CanaryConfig;
  readonly instance: string;
  readonly aborted: AbortController;
  cancelTimer: CancelTimer;
}

/** How much an interval may be longer or shorter, as a part of it: canaries of several instances must not keep step. */
const jitter = 0.1;
/** The shortest time between the end of a try and the next, in ms. */
const pauseMinMs = 250;
/** When the first try follows, in ms, at the least and at the most: rolecall has to know the nodes. */
const [firstMinMs, firstMaxMs] = [500, 1_500];

/** Tries each canary again and again: one try at a time, each with a connection of its own. */
export class Canaries {
  readonly #context: CanariesContext;
  #running: ReadonlyMap<string, RunningCanary> = new Map();
  #isStopped = false;

  constructor(context: CanariesContext) {
    this.#context = context;
  }

  /** Tries the canaries of a configuration from now on, and no others. One that stays keeps what is known of it. */
  configure(config: Config): void {
    if (this.#isStopped) return;
    const before = this.#running;
    const wanted = this.#wantedOf(config);
    this.#running = new Map(wanted.map((one) => [one.key, before.get(one.key) ?? this.#begun(one)]));
    for (const [key, one] of before) if (!this.#running.has(key)) end(one);
    for (const one of this.#running.values()) {
      const { isOneOfSeveral = false } = wanted.find(({ key }) => key === one.key) ?? {};
      one.known = { ...one.known, isOneOfSeveral };
    }
    const left = [...before.values()].filter(({ key }) => !this.#running.has(key));
    for (const cluster of new Set(left.map(({ known }) => known.cluster))) this.#context.onChange(cluster);
  }

  /** Ends all tries and begins no others. {@link known} returns the last results as before. */
  stop(): void {
    this.#isStopped = true;
    for (const one of this.#running.values()) end(one);
  }

  /** What is known of all canaries, or of those of one cluster. */
  known(cluster: string | null = null): readonly KnownCanary[] {
    return [...this.#running.values()]
      .map(({ known }) => known)
      .filter((one) => cluster === null || one.cluster === cluster);
  }

  #wantedOf(config: Config): readonly WantedCanary[] {
    const instance = this.#context.instanceOf(config);
    return config.clusters.flatMap(({ name: cluster, source, canaries }) =>
      canaries.flatMap((canary) => {
        const pool = config.pools.find((one) => one.name === canary.pool && one.cluster === cluster);
        // The checks of the configuration have refused another one.
        if (pool === undefined) return [];
        const kind = kindOf(pool.check.route, source !== null);
        const isOneOfSeveral = canaries.filter((one) => one.pool === canary.pool).length > 1;
        return [
          { key: JSON.stringify([cluster, kind, instance, canary]), cluster, kind, instance, canary, isOneOfSeveral },
        ];
      }),
    );
  }

  #begun({ key, cluster, kind, instance, canary, isOneOfSeveral }: WantedCanary): RunningCanary {
    const { pool, url, intervalMs } = canary;
    const running: RunningCanary = {
      key,
      known: {
        cluster,
        pool,
        target: url.target,
        user: url.user,
        kind,
        intervalMs,
        isOneOfSeveral,
        state: { phase: "pending" },
        passedAtMs: null,
      },
      config: canary,
      instance,
      aborted: new AbortController(),
      cancelTimer: () => {},
    };
    this.#tryIn(running, firstMinMs + this.#context.random() * (firstMaxMs - firstMinMs));
    return running;
  }

  #tryIn(running: RunningCanary, delayMs: number): void {
    if (running.aborted.signal.aborted) return;
    running.cancelTimer = this.#context.scope.setTimer(() => void this.#try(running), delayMs);
  }

  /** Never rejects. */
  async #try(running: RunningCanary): Promise<void> {
    const { now, random, scope, makeTry, systemOf, onError } = this.#context;
    const { config, aborted, instance } = running;
    const { cluster, kind, pool, target } = running.known;
    const triedAtMs = now();
    try {
      const outcome = await makeTry(config, kind, {
        now,
        signal: AbortSignal.any([aborted.signal, scope.signal]),
        row: { instance, pool, target },
        expectedSystem: () => systemOf(cluster),
      });
      if (!aborted.signal.aborted) this.#record(running, outcome, triedAtMs);
    } catch (error) {
      onError(running.known, error);
    }
    const wantedMs = config.intervalMs * (1 + jitter * (2 * random() - 1));
    this.#tryIn(running, Math.max(pauseMinMs, wantedMs - (now() - triedAtMs)));
  }

  #record(running: RunningCanary, outcome: TryOutcome, triedAtMs: number): void {
    const { nodeOf, onTried, onChange } = this.#context;
    const before = running.known;
    if (outcome.kind === "own_failure") return;
    const node = outcome.server === null ? null : nodeOf(before.cluster, outcome.server);
    const state = afterTry(before.state, outcome, { triedAtMs, node });
    running.known = { ...before, state, passedAtMs: state.phase === "passed" ? triedAtMs : before.passedAtMs };
    onTried(running.known);
    if (meaningOf(before.state) !== meaningOf(state)) onChange(before.cluster);
  }
}

/** A canary of the configuration. */
interface WantedCanary {
  /** What makes it another one: all of its configuration. */
  readonly key: string;
  readonly cluster: string;
  readonly kind: CanaryKind;
  readonly instance: string;
  readonly canary: CanaryConfig;
  readonly isOneOfSeveral: boolean;
}

function end({ aborted, cancelTimer }: RunningCanary): void {
  cancelTimer();
  aborted.abort();
}

/** What conditions depend on. */
function meaningOf(state: CanaryState): string {
  return isFailing(state) ? `failing ${state.error.code}` : "served";
}
