import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import type { Config } from "../../../core/config/model/config.ts";
import type { Scope } from "../../../core/feature/scope.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";
import { pauseName, type PauseTarget } from "../machine/plan.ts";
import { heldOnLoss } from "../run/plan-of.ts";
import { LeaderLink } from "./leader-link.ts";
import { PoolLooks } from "./pool-looks.ts";
import { isHoldDue, type LeaderSight } from "./unserved.ts";

/** A run that holds clients after a loss, as far as the watch needs it. */
export interface HoldingRun {
  /** A pooler refuses its clients. @param waiting how many of them wait */
  unserved(target: PauseTarget, waiting: number): void;
  /** Whether it goes on. */
  readonly isOpen: boolean;
  /** Resolves at its end. @returns whether something was paused */
  readonly ended: Promise<boolean>;
}

/** What a watch depends on. */
export interface LossWatchContext {
  /** Of the configuration in force. */
  readonly config: () => Pick<Config, "poolers" | "clusters">;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly scope: Pick<Scope, "setTimer" | "wait" | "signal">;
  /** The node that is accepted as the primary; `null` if there is none. */
  readonly primary: (cluster: string) => string | null;
  /** The same; the node that leads only by what it has said since an instant, in ms of rolecall's clock. */
  readonly primarySince: (cluster: string, leader: string, sinceMs: number) => string | null;
  /** The address of the database of a node; `null` if it is not known. */
  readonly addressOf: (cluster: string, node: string) => DatabaseAddress | null;
  /** Begins a run that holds clients; `null`: another one goes on, or none may begin. */
  readonly begin: (cluster: string, leader: string) => HoldingRun | null;
  /** Lets the nodes be probed more often for a while. */
  readonly hint: (cluster: string) => void;
  readonly onError: (error: unknown) => void;
}

/** How long poolers are looked at after a sign, and how often, in ms. */
const lookMs = 2_000;
const everyMs = 20;
/** How often they are looked at while no primary is accepted, or a run holds clients, in ms. */
const slowlyMs = 250;
/** Until another run begins after one that has held nobody, in ms. */
const againMs = 1_000;
/** How often consoles are opened that have ended, in ms. */
const prepareMs = 2_000;

/** What is watched of one cluster. */
interface Watched {
  readonly key: string;
  readonly link: LeaderLink;
  readonly looks: readonly { readonly pooler: string; readonly looks: PoolLooks }[];
  /** The primary that was accepted last; `null` before the first. */
  leader: string | null;
  /** Until when the poolers are looked at often, in ms of rolecall's clock. */
  lookUntilMs: number;
  isLooking: boolean;
  /** When a hold has ended after which no primary was accepted yet, in ms of rolecall's clock; `null`: none. */
  heldUntilMs: number | null;
  /** When another run may begin, in ms of rolecall's clock: each takes a process. */
  nextRunMs: number;
  run: HoldingRun | null;
  hasEnded: boolean;
}

/**
 * Looks at the poolers of a cluster when its leader may be lost, and holds the clients of those that would refuse them
 * (`hold_on_loss`). In quiet times it keeps a connection to the leader's database and a console of each pooler, and asks
 * nobody anything.
 */
export class LossWatch {
  readonly #context: LossWatchContext;
  readonly #watched = new Map<string, Watched>();

  constructor(context: LossWatchContext) {
    this.#context = context;
  }

  /** To be called after the configuration has changed. */
  configure(): void {
    const { config } = this.#context;
    const { clusters } = config();
    const names = new Set(clusters.map(({ name }) => name));
    for (const cluster of this.#watched.keys()) if (!names.has(cluster)) this.#end(cluster);
    for (const cluster of names) {
      const held = heldOnLoss(config(), cluster);
      const key = JSON.stringify(held);
      if (this.#watched.get(cluster)?.key === key) continue;
      this.#end(cluster);
      if (held !== null) this.#begin(cluster, key, held.targets);
    }
  }

  /** To be called when the state of a cluster has changed. */
  clusterChanged(cluster: string): void {
    const watched = this.#watched.get(cluster);
    if (watched === undefined) return;
    const { primary: primaryOf, primarySince, addressOf } = this.#context;
    const primary = primaryOf(cluster);
    if (primary !== null) {
      watched.leader = primary;
      watched.link.follow(addressOf(cluster, primary));
      const { heldUntilMs } = watched;
      if (heldUntilMs !== null && primarySince(cluster, primary, heldUntilMs) !== null) watched.heldUntilMs = null;
    } else if (watched.leader !== null) void this.#look(cluster, watched);
  }

  /** Ends all that it has opened. */
  stop(): void {
    for (const cluster of this.#watched.keys()) this.#end(cluster);
  }

  #begin(cluster: string, key: string, targets: readonly IntendedPause[]): void {
    const poolers = new Map<string, readonly IntendedPause[]>();
    for (const target of targets) poolers.set(target.pooler, [...(poolers.get(target.pooler) ?? []), target]);
    const looks = [...poolers].flatMap(([pooler, own]) => {
      const [first] = own;
      const databases = own.map(({ database }) => database);
      return first === undefined ? [] : [{ pooler, looks: new PoolLooks(first.console, databases) }];
    });
    const link = new LeaderLink({
      setTimer: this.#context.scope.setTimer,
      onEnd: () => this.#onSign(cluster, watched),
    });
    const watched: Watched = {
      key,
      link,
      looks,
      leader: null,
      lookUntilMs: -Infinity,
      isLooking: false,
      heldUntilMs: null,
      nextRunMs: -Infinity,
      run: null,
      hasEnded: false,
    };
    this.#watched.set(cluster, watched);
    void this.#keepReady(watched).catch(this.#context.onError);
    this.clusterChanged(cluster);
  }

  #end(cluster: string): void {
    const watched = this.#watched.get(cluster);
    if (watched === undefined) return;
    this.#watched.delete(cluster);
    watched.hasEnded = true;
    watched.link.close();
    for (const { looks } of watched.looks) looks.close();
  }

  /** The connection to the leader's database has ended: a run is made ready while the poolers are looked at. */
  #onSign(cluster: string, watched: Watched): void {
    watched.lookUntilMs = this.#context.now() + lookMs;
    this.#context.hint(cluster);
    this.#run(cluster, watched);
    void this.#look(cluster, watched);
  }

  /** The run that goes on, or a new one. */
  #run(cluster: string, watched: Watched): HoldingRun | null {
    if (watched.run?.isOpen === true) return watched.run;
    const { now, begin } = this.#context;
    const { leader, heldUntilMs, nextRunMs } = watched;
    if (leader === null || heldUntilMs !== null || now() < nextRunMs) return null;
    const run = begin(cluster, leader);
    watched.run = run;
    if (run !== null) void this.#awaitEnd(cluster, watched, run);
    return run;
  }

  async #awaitEnd(cluster: string, watched: Watched, run: HoldingRun): Promise<void> {
    const hasHeld = await run.ended;
    const nowMs = this.#context.now();
    if (hasHeld) watched.heldUntilMs = nowMs;
    else watched.nextRunMs = nowMs + againMs;
    this.clusterChanged(cluster);
  }

  /** Looks at all poolers until nothing has to be looked at any more. */
  async #look(cluster: string, watched: Watched): Promise<void> {
    if (watched.isLooking) return;
    watched.isLooking = true;
    try {
      await Promise.all(watched.looks.map((one) => this.#lookAt(one, cluster, watched)));
    } catch (error) {
      this.#context.onError(error);
    } finally {
      watched.isLooking = false;
    }
  }

  async #lookAt({ pooler, looks }: Watched["looks"][number], cluster: string, watched: Watched): Promise<void> {
    const { now, scope } = this.#context;
    while (!watched.hasEnded && !scope.signal.aborted) {
      const leader = this.#leaderSight(cluster, watched);
      if (leader === "stands" || leader === "held_before") return;
      const sinceMs = now();
      for (const { database, sight, inRow, waiting } of await looks.look()) {
        if (sight !== "unserved") continue;
        // What may have to be held is looked at often.
        if (leader === "no_primary" && inRow === 1) watched.lookUntilMs = now() + lookMs;
        if (isHoldDue(leader, sight, inRow)) this.#run(cluster, watched)?.unserved({ pooler, database }, waiting);
      }
      const isOften = now() < watched.lookUntilMs;
      await scope.wait(Math.max(1, (isOften ? everyMs : slowlyMs) - (now() - sinceMs)));
    }
  }

  #leaderSight(cluster: string, { lookUntilMs, heldUntilMs, leader, run }: Watched): LeaderSight {
    if (run?.isOpen === true) return this.#context.now() < lookUntilMs ? "connection_ended" : "holding";
    if (heldUntilMs !== null) return "held_before";
    if (this.#context.now() < lookUntilMs) return "connection_ended";
    return leader !== null && this.#context.primary(cluster) === null ? "no_primary" : "stands";
  }

  async #keepReady(watched: Watched): Promise<void> {
    const { scope } = this.#context;
    while (!watched.hasEnded && !scope.signal.aborted) {
      await Promise.all(watched.looks.map(({ looks }) => looks.prepare()));
      await scope.wait(prepareMs);
    }
  }
}

/** The position of a target in a run's plan; `null`: it has none. */
export function positionOf(targets: readonly PauseTarget[], target: PauseTarget): number | null {
  const at = targets.findIndex((one) => pauseName(one) === pauseName(target));
  return at === -1 ? null : at;
}
