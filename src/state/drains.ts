import { clusterNamed } from "../cluster/lookup.ts";
import type { Clock } from "./clock.ts";
import { drainMsMax, type Drain, type DrainRequest } from "../cluster/drain.ts";
import type { DrainOutcome } from "../cluster/outcome.ts";
import { readDrains } from "./drains-file.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { drainOf } from "../health/evidence/active-drain.ts";
import type { Logger } from "../events/logger.ts";
import type { Store } from "./store.ts";

/** How often ended drains are looked for, in ms. Verdicts do not wait for it: the end is an instant, and judged as one. */
const sweepMs = 1_000;

/** What drains are kept with. */
export interface DrainsContext {
  readonly clock: Pick<Clock, "now" | "wall">;
  readonly log: Logger;
  readonly stateFile: string | null;
  /** Takes an operator's word in, as the outcomes of probes are: it is part of the evidence. */
  readonly record: (outcome: DrainOutcome) => void;
}

/** Begins and ends drains, and writes each into the log: who, what, why, until when. */
export class Drains {
  readonly #store: Pick<Store, "current">;
  readonly #clock: Pick<Clock, "now" | "wall">;
  readonly #log: Logger;
  readonly #take: (outcome: DrainOutcome) => void;
  readonly #sweep: NodeJS.Timeout;

  /** Takes up the drains of an earlier run that have not ended, as the state file has them. */
  constructor(store: Pick<Store, "current">, { clock, log, stateFile, record }: DrainsContext) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#take = record;
    this.#restore(stateFile);
    this.#sweep = setInterval(() => this.sweep(), sweepMs).unref();
  }

  snapshot(): Snapshot {
    return this.#store.current;
  }

  /** Our clock, in ms. */
  now(): number {
    return this.#clock.now();
  }

  /** Drains a node from now on, in place of a drain it may have. The cluster must be one that is watched. */
  begin(cluster: string, node: string, wish: DrainRequest): void {
    const { forMs, ...rest } = wish;
    const wallMs = this.#clock.wall();
    const drain: Drain = {
      ...rest,
      untilMs: this.#clock.now() + forMs,
      since: instant(wallMs),
      until: instant(wallMs + forMs),
    };
    this.#record(cluster, node, drain);
    this.#log.warn({ audit: true, cluster, node, ...told(drain) }, "drain begun");
  }

  /** Ends a node's drain. @returns whether there was one */
  end(cluster: string, node: string, by: string | null): boolean {
    const drain = this.#find(cluster, node);
    if (drain === null) return false;
    this.#record(cluster, node, null);
    this.#log.warn({ audit: true, cluster, node, ended_by: by, ...told(drain) }, "drain ended by hand");
    return true;
  }

  /** Takes away what has ended by itself, and says so. */
  sweep(): void {
    const nowMs = this.#clock.now();
    for (const cluster of this.#store.current.clusters) {
      for (const [node, drain] of cluster.drains) {
        if (nowMs < drain.untilMs) continue;
        this.#record(cluster.name, node, null);
        this.#log.info({ audit: true, cluster: cluster.name, node, ...told(drain) }, "drain ended by itself");
      }
    }
  }

  stop(): void {
    clearInterval(this.#sweep);
  }

  #restore(stateFile: string | null): void {
    for (const { cluster, node, ...rest } of stateFile === null ? [] : readDrains(stateFile)) {
      const leftMs = Math.min(Date.parse(rest.until) - this.#clock.wall(), drainMsMax);
      if (leftMs <= 0) continue;
      const drain: Drain = { ...rest, untilMs: this.#clock.now() + leftMs };
      this.#record(cluster, node, drain);
      this.#log.info({ audit: true, cluster, node, ...told(drain) }, "drain goes on after a restart");
    }
  }

  #find(cluster: string, node: string): Drain | null {
    const state = clusterNamed(this.#store.current, cluster);
    return state === undefined ? null : drainOf(state, node, this.#clock.now());
  }

  #record(cluster: string, node: string, drain: Drain | null): void {
    this.#take({ kind: "drain", cluster, node, drain });
  }
}

function told({ reason, by, isAll, until }: Drain): object {
  return { reason, by, all: isAll, until };
}

function instant(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
