import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import type { Config } from "../../../core/config/model/config.ts";
import type { Scope } from "../../../core/feature/scope.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";
import { pauseName, type PauseTarget } from "../machine/plan.ts";
import { heldOnLoss } from "../run/plan-of.ts";
import { LeaderLink } from "./leader-link.ts";
import { PoolLooks } from "./pool-looks.ts";
import { isHoldDue } from "../hands/unserved.ts";
import {
  leaderSightOf,
  looksOf,
  mayBegin,
  nextWatchPhase,
  type WatchHappening,
  type WatchPhase,
} from "./watch-phase.ts";

/** A run that holds clients after a loss, as far as the watch needs it. */
export interface HoldingRun {
  /** A pooler refuses its clients. @param waiting how many of them wait */
  unserved(target: PauseTarget, waiting: number): void;
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
  /** Another node is accepted as the primary than before. Does not wait. */
  readonly onNewPrimary: (cluster: string, node: string) => void;
  /** Lets the nodes be probed more often for a while. */
  readonly hint: (cluster: string) => void;
  readonly onError: (error: unknown) => void;
}

/** How often poolers are looked at after a sign, in ms. */
const everyMs = 20;
/** How often they are looked at while no primary is accepted, or a run holds clients, in ms. */
const slowlyMs = 250;
/** How often consoles are opened that have ended, in ms. */
const prepareMs = 2_000;

/** What is watched of one cluster. */
interface Watched {
  readonly key: string;
  readonly link: LeaderLink;
  readonly looks: readonly { readonly pooler: string; readonly looks: PoolLooks }[];
  phase: WatchPhase<HoldingRun>;
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
    const { primary, primarySince, addressOf } = this.#context;
    const node = primary(cluster);
    if (node !== null) watched.link.follow(addressOf(cluster, node));
    const { phase } = watched;
    const isSinceHold = phase.kind === "held" && node !== null && primarySince(cluster, node, phase.sinceMs) !== null;
    this.#happened(cluster, watched, { kind: "primary", node, isSinceHold });
    if (node !== null && "leader" in phase && phase.leader !== node) this.#context.onNewPrimary(cluster, node);
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
    const watched: Watched = { key, link, looks, phase: { kind: "unled" } };
    this.#watched.set(cluster, watched);
    void this.#keepReady(watched).catch(this.#context.onError);
    this.clusterChanged(cluster);
  }

  #end(cluster: string): void {
    const watched = this.#watched.get(cluster);
    if (watched === undefined) return;
    this.#watched.delete(cluster);
    this.#happened(cluster, watched, { kind: "stop" });
    watched.link.close();
    for (const { looks } of watched.looks) looks.close();
  }

  /** Looks begin with the phase that they belong to. */
  #happened(cluster: string, watched: Watched, happened: WatchHappening<HoldingRun>): void {
    const before = looksOf(watched.phase);
    watched.phase = nextWatchPhase(watched.phase, happened, this.#context.now());
    const after = looksOf(watched.phase);
    if (after === null || after === before) return;
    for (const one of watched.looks) void this.#lookAt(one, cluster, watched).catch(this.#context.onError);
  }

  /** The connection to the leader's database has ended: a run is made ready while the poolers are looked at. */
  #onSign(cluster: string, watched: Watched): void {
    this.#happened(cluster, watched, { kind: "sign" });
    this.#context.hint(cluster);
    this.#run(cluster, watched);
  }

  /** The run that goes on, or a new one; `null`: none may begin. */
  #run(cluster: string, watched: Watched): HoldingRun | null {
    const { phase } = watched;
    if (phase.kind === "running") return phase.run;
    if (!mayBegin(phase, this.#context.now())) return null;
    const run = this.#context.begin(cluster, phase.leader);
    if (run === null) return null;
    this.#happened(cluster, watched, { kind: "begun", run });
    void this.#awaitEnd(cluster, watched, run);
    return run;
  }

  async #awaitEnd(cluster: string, watched: Watched, run: HoldingRun): Promise<void> {
    const hasHeld = await run.ended;
    this.#happened(cluster, watched, { kind: "ended", run, hasHeld });
    if (this.#watched.get(cluster) === watched) this.clusterChanged(cluster);
  }

  /** Looks at a pooler until it has to be looked at no more, or others do. */
  async #lookAt({ pooler, looks }: Watched["looks"][number], cluster: string, watched: Watched): Promise<void> {
    const { now, scope, primary } = this.#context;
    const number = looksOf(watched.phase);
    looks.startOver();
    while (!scope.signal.aborted) {
      const sinceMs = now();
      const hasPrimary = primary(cluster) !== null;
      this.#happened(cluster, watched, { kind: "look", hasPrimary });
      if (looksOf(watched.phase) !== number) return;
      const leader = leaderSightOf(watched.phase, hasPrimary, sinceMs);
      for (const { database, sight, inRow, waiting } of await looks.look()) {
        // What may have to be held is looked at often.
        if (leader === "no_primary" && sight === "unserved" && inRow === 1)
          this.#happened(cluster, watched, { kind: "unserved" });
        if (!isHoldDue(leader, sight, inRow)) continue;
        const run = this.#run(cluster, watched);
        this.#happened(cluster, watched, { kind: "wanted" });
        run?.unserved({ pooler, database }, waiting);
      }
      const { phase } = watched;
      const isOften = "oftenUntilMs" in phase && now() < phase.oftenUntilMs;
      await scope.wait(Math.max(1, (isOften ? everyMs : slowlyMs) - (now() - sinceMs)));
    }
  }

  async #keepReady(watched: Watched): Promise<void> {
    const { scope } = this.#context;
    while (watched.phase.kind !== "over" && !scope.signal.aborted) {
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
