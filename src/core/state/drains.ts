import { clusterNamed } from "../cluster/lookup.ts";
import type { Clock } from "./clock.ts";
import { drainLogFields, type Drain, type DrainChange, type DrainRequest, type Durability } from "../cluster/drain.ts";
import type { DrainOutcome } from "../cluster/outcome.ts";
import { remainingOf, type SavedDrain } from "./saved-drains.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import { activeDrainOf } from "../health/evidence/node/active-drain.ts";
import type { Logger } from "../log/logger.ts";
import type { Store } from "./store.ts";

/**
 * How often ended drains are removed, in ms. Verdicts do not depend on it: they compare the drain's end with the time.
 */
const sweepIntervalMs = 1_000;

/** What drains depend on. */
export interface DrainsContext {
  readonly clock: Pick<Clock, "now" | "wall">;
  readonly setTimer: SetTimer;
  readonly log: Logger;
  /** Records a drain as the outcomes of probes are recorded: it is part of the evidence. */
  readonly record: (outcome: DrainOutcome) => void;
  /** Writes the drains that are in force to the disk. Never rejects. */
  readonly save: () => Promise<Durability>;
  /** Called when a drain begins, is ended by an operator, or expires: an event, and an audit line in the log. */
  readonly onChange: (change: DrainChange) => void;
}

/** Begins and ends drains, and reports each: who, what, why, until when. */
export class Drains {
  readonly #store: Pick<Store, "current">;
  readonly #context: DrainsContext;
  #cancelSweep: CancelTimer | null = null;

  constructor(store: Pick<Store, "current">, context: DrainsContext) {
    this.#store = store;
    this.#context = context;
  }

  /** Restores the drains of an earlier run that have not ended, and starts to remove ended ones. */
  start(saved: readonly SavedDrain[]): void {
    for (const drain of saved) this.#restore(drain);
    if (this.#cancelSweep === null) this.#sweepLater();
  }

  stop(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = null;
  }

  snapshot(): Snapshot {
    return this.#store.current;
  }

  /** The present instant, in ms of rolecall's clock. */
  now(): number {
    return this.#context.clock.now();
  }

  /**
   * Drains a node from now on, in place of a drain that it may have. The cluster must be a monitored one.
   * @returns resolves when it is on disk, or cannot be written
   */
  begin(cluster: string, node: string, request: DrainRequest): Promise<Durability> {
    const { clock, onChange, save } = this.#context;
    const { forMs, ...rest } = request;
    this.sweep();
    const wallMs = clock.wall();
    const drain: Drain = {
      ...rest,
      untilMs: clock.now() + forMs,
      since: formatInstant(wallMs),
      until: formatInstant(wallMs + forMs),
    };
    this.#record(cluster, node, drain);
    onChange({ kind: "begun", cluster, node, drain, endedBy: null });
    return save();
  }

  /** Ends a node's drain. @returns as `begin`; `null` if there was none */
  end(cluster: string, node: string, by: string | null): Promise<Durability> | null {
    this.sweep();
    const drain = this.#find(cluster, node);
    if (drain === null) return null;
    this.#record(cluster, node, null);
    this.#context.onChange({ kind: "ended", cluster, node, drain, endedBy: by });
    return this.#context.save();
  }

  /** Removes the drains whose time is over, and reports each. */
  sweep(): void {
    const nowMs = this.now();
    for (const cluster of this.#store.current.clusters) {
      for (const [node, drain] of cluster.drains) {
        if (nowMs < drain.untilMs) continue;
        this.#record(cluster.name, node, null);
        this.#context.onChange({ kind: "expired", cluster: cluster.name, node, drain, endedBy: null });
      }
    }
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#context.setTimer(() => {
      this.#sweepLater();
      this.sweep();
    }, sweepIntervalMs);
  }

  #restore({ cluster, node, ...rest }: SavedDrain): void {
    const { clock, log } = this.#context;
    const remainingMs = remainingOf(rest, { nowMs: clock.now(), wallMs: clock.wall() });
    if (!(remainingMs > 0)) return;
    const drain: Drain = { ...rest, untilMs: clock.now() + remainingMs };
    this.#record(cluster, node, drain);
    log.info({ audit: true, cluster, node, ...drainLogFields(drain) }, "drain restored after a restart");
  }

  #find(cluster: string, node: string): Drain | null {
    const state = clusterNamed(this.#store.current, cluster);
    return state === undefined ? null : activeDrainOf(state, node, this.now());
  }

  #record(cluster: string, node: string, drain: Drain | null): void {
    this.#context.record({ kind: "drain", cluster, node, drain });
  }
}

function formatInstant(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
