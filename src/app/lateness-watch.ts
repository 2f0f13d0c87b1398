import { shortestLateTtlMs } from "../core/health/evidence/node/late-here.ts";
import type { PoolsApiContext } from "../core/http/admin-api/pools-api.ts";
import { PoolMemory } from "../core/http/admin-api/pool-memory.ts";
import { latenessAfter, notLate, type OwnLateness } from "../core/probe/late-here.ts";
import type { Config } from "../core/config/model/config.ts";
import type { Store } from "../core/state/store.ts";
import { servedPools } from "./handlers/pool-users.ts";

/** What it looks at, and who hears of it. */
export interface LatenessWatchContext {
  readonly store: Store;
  /** Whether this process probes a cluster. */
  readonly isProbed: (cluster: string) => boolean;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** Called with `null` when it begins, and with how long it lasted when it ends, in ms. */
  readonly onChange: (lateForMs: number | null) => void;
  /** Called when other instances have to take the place of this one, and when they need not any more. */
  readonly onWithdrawn: () => void;
}

/** Watches whether this process asks nodes in time, and keeps the answers that pools get meanwhile (rule 16). */
export class LatenessWatch {
  readonly #context: LatenessWatchContext;
  readonly #memory = new PoolMemory();
  #lateness: OwnLateness = notLate;

  constructor(context: LatenessWatchContext) {
    this.#context = context;
  }

  /** The answers that other programs get about pools. */
  get pools(): Pick<PoolsApiContext, "memory" | "isWithdrawn"> {
    return { memory: this.#memory, isWithdrawn: () => this.isWithdrawn };
  }

  /** Looks again whether any evidence is late here. */
  get isLate(): boolean {
    this.examine();
    return this.#lateness.kind !== "on_time";
  }

  /** Looks again whether this process has been late for so long that it counts as gone. */
  get isWithdrawn(): boolean {
    this.examine();
    return this.#lateness.kind === "withdrawn";
  }

  /** The same as of the last look: one is due with each interval of the probes. */
  get wasWithdrawn(): boolean {
    return this.#lateness.kind === "withdrawn";
  }

  /** Forgets the pools that are not configured any more. */
  configure(config: Pick<Config, "pools" | "unnamedPools">): void {
    this.#memory.keepOnly(servedPools(config));
  }

  /** Looks at the evidence. */
  examine(): void {
    const { store, isProbed, now, onChange, onWithdrawn } = this.#context;
    const before = this.#lateness;
    const { clusters } = store.current;
    const nowMs = now();
    const lateTtlMs = shortestLateTtlMs({ clusters, policyOf: (name) => store.policyOf(name), isProbed }, nowMs);
    this.#lateness = latenessAfter(before, { lateTtlMs, nowMs });
    const { kind } = this.#lateness;
    if (kind === before.kind) return;
    if (before.kind === "on_time") onChange(null);
    else if (kind === "on_time") onChange(nowMs - before.sinceMs);
    if (kind === "withdrawn" && before.kind !== "withdrawn") onWithdrawn();
  }
}
