import type { Config, FastPathMode } from "../../core/config/model/config.ts";
import { Clock, monotonicOriginMs } from "../../core/state/clock.ts";
import { policyOf, reconfigure } from "../../core/state/clusters.ts";
import { Store } from "../../core/state/store.ts";
import { OutcomeReader } from "../../core/workers/outcome-feed.ts";
import type {
  AdoptedState,
  FullState,
  Phase,
  RelayAddress,
  ReloadedState,
  ToWorker,
} from "../../core/workers/messages.ts";

/** The part of the state that is replaced when the main process sends its full state. */
interface Loaded {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly relay: RelayAddress;
}

/**
 * A worker's copy of the main process's snapshot, configuration and clock. It records the same outcomes in the
 * same order, so both processes have equal snapshots.
 */
export class WorkerState {
  readonly #outcomes = new OutcomeReader();
  readonly #createClock: (originMs: number) => Clock;
  #loaded: Loaded | null = null;
  #phase: Phase = "starting";

  /** @param createClock creates a clock that shows the instants of the main process; see {@link clockOfMain} */
  constructor(createClock: (originMs: number) => Clock = clockOfMain) {
    this.#createClock = createClock;
  }

  get store(): Store {
    return this.#current().store;
  }

  get clock(): Clock {
    return this.#current().clock;
  }

  get config(): Config {
    return this.#current().config;
  }

  /** How the fast path is configured; `false` until the main process has sent its state. */
  get fastPathMode(): FastPathMode {
    return this.#loaded?.config.fastPath ?? false;
  }

  /** The relay server of the main process. */
  get relay(): RelayAddress {
    return this.#current().relay;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Takes the full state of the main process, in place of what it had. */
  load({ config, instance, sequence, clusters, phase, clock: reading, originMs, relay }: FullState): void {
    const monitored = config.clusters.flatMap((cluster, at) => {
      const state = clusters[at];
      return state === undefined ? [] : [{ cluster: state, policy: policyOf(cluster, config.probe) }];
    });
    const clock = this.#loaded?.clock ?? this.#createClock(originMs);
    clock.syncTo(reading);
    this.#loaded = { store: new Store(instance, monitored, sequence), clock, config, relay };
    this.#phase = phase;
    this.#outcomes.reset();
  }

  /**
   * Puts another configuration in force, as the main process has done after the same outcomes.
   * @returns as {@link record}
   */
  reload({ config, clock: reading, sequence }: ReloadedState): boolean {
    if (this.#loaded === null) return false;
    const { store, clock } = this.#loaded;
    clock.syncTo(reading);
    reconfigure(store, config);
    this.#loaded = { ...this.#loaded, config };
    this.#outcomes.reset();
    return store.sequence === sequence;
  }

  /**
   * Records what the main process recorded.
   * @returns whether the snapshot still is the main process's. If not, it must send its full state.
   */
  record({ changes, clock: reading }: Extract<ToWorker, { kind: "changes" }>): boolean {
    // There is nothing to keep up with yet: the full state is still to come.
    if (this.#loaded === null) return true;
    const { store, clock } = this.#loaded;
    clock.syncTo(reading);
    for (const { outcome: sent, nowMs, sequence } of changes) {
      const outcome = this.#outcomes.read(sent);
      if (outcome !== undefined) store.record(outcome, nowMs);
      if (store.sequence !== sequence) return false;
    }
    return true;
  }

  /**
   * Adopts the state of another instance, as the main process has.
   * @returns as {@link record}
   */
  adopt({ state, sequence, clock: reading }: AdoptedState): boolean {
    if (this.#loaded === null) return true;
    const { store, clock } = this.#loaded;
    clock.syncTo(reading);
    store.adopt(state);
    return store.sequence === sequence;
  }

  /** Takes the phase of the main process. */
  enter({ phase, clock }: Extract<ToWorker, { kind: "phase" }>): void {
    this.#phase = phase;
    this.#loaded?.clock.syncTo(clock);
  }

  /** Looks for a clock gap. To be called regularly. */
  tick(): void {
    this.#loaded?.clock.tick();
  }

  #current(): Loaded {
    if (this.#loaded === null) throw new Error("Cannot answer: the main process must send its full state first");
    return this.#loaded;
  }
}

/**
 * A clock that shows the instants of the main process: both count the machine's monotonic time. A late event loop is
 * not reported as a gap (`tickIntervalMs: Infinity`): the main process went on probing, and its messages carry their
 * own times.
 * @param originMs where rolecall's clock of the main process began, in ms of the machine's monotonic clock
 */
function clockOfMain(originMs: number): Clock {
  const offsetMs = monotonicOriginMs() - originMs;
  return new Clock({ tickIntervalMs: Infinity, onGap: () => {}, monotonic: () => performance.now() + offsetMs });
}
