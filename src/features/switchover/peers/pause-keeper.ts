import type { KeptPauses, PauseAnswer, TakeoverCause } from "./pause-answer.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { PoolerConfig } from "../../../core/config/model/config.ts";
import type { Scope } from "../../../core/feature/scope.ts";
import { LimitedLines } from "../../../core/log/limited-lines.ts";
import type { Logger } from "../../../core/log/logger.ts";
import { resumeTarget, TargetResumer } from "../hands/resume-target.ts";
import type { PausingRun } from "../hands/pause-console.ts";
import type { OpenRun } from "../claims/claim-book.ts";
import type { FinishIntent, IntendedPause } from "../intent/pause-intent.ts";
import type { AdoptedRun } from "../machine/advance.ts";
import { type PauseTarget, pauseName } from "../machine/plan.ts";
import { type Announcement, byPooler, readAnnouncement, readHeartbeat, flatTargets } from "./announcement.ts";
import { type Reached, type ReachedPooler, reachPoolers } from "./reach-poolers.ts";
import { nextWatch, type WatchedRun, type WatchEvent } from "./watched-run.ts";

/** What the keeper depends on. */
export interface PauseKeeperContext {
  readonly log: Logger;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  /** Ends what it watches: what is open then stays paused, unless the other rolecall resumes it. */
  readonly scope: Pick<Scope, "setTimer" | "wait" | "hold" | "signal">;
  /** The configured poolers. A run keeps those that it was announced with. */
  readonly poolers: () => readonly PoolerConfig[];
  /** How other rolecalls name this one. */
  readonly name: string;
  readonly onChange: (change: KeptPauses) => void;
  /** The promise for a run that is heard of goes on. */
  readonly onHeard: (run: string) => void;
  /** A run is over: what was promised for it is free again. */
  readonly onOver: (run: string) => void;
  /** Goes on with a run: leads its clients to the new primary, and resumes them. @returns `null` if that is not possible */
  readonly finish: (kept: KeptFinish, adopted: AdoptedRun) => FinishingRun | null;
}

/** The end of a run that this process brings about. */
export interface FinishingRun {
  /** Somebody else has resumed a target, by its position. */
  letGo(target: number): void;
  /** The run is over. */
  stop(): void;
}

/** A run that this process finishes for another one. */
export interface KeptFinish {
  readonly run: string;
  readonly cluster: string;
  readonly finish: FinishIntent;
  /** What this process reaches, with consoles that are open already. */
  readonly targets: readonly (IntendedPause & { readonly resumer: TargetResumer | null })[];
  /** The settings of the poolers when the run was announced. */
  readonly lowered: readonly { readonly pooler: string; readonly before: string }[];
  readonly onResumed: (target: number) => void;
  /** What is left then is resumed without being led anywhere. */
  readonly onEnd: () => void;
}

/** Who calls, and for which cluster it may; `null`: for all. */
export interface PauseCaller {
  readonly from: string;
  readonly only: string | null;
}

/** How many databases of a cluster are watched, or resumed. */
export interface HeldCount {
  readonly cluster: string;
  readonly state: "watched" | "resuming";
  readonly databases: number;
}

interface KeptRun {
  readonly announcement: Announcement;
  readonly by: PausingRun;
  readonly from: string;
  /** `null`: its poolers are being reached. */
  watch: WatchedRun | null;
  poolers: ReadonlyMap<string, ReachedPooler>;
  /** Those of the first databases of each pooler, with open consoles, by the keys of the targets. */
  readonly resumers: Map<string, TargetResumer>;
  /** What was open when this process took over. */
  taken: readonly PauseTarget[];
  /** Leads and resumes what is open; `null`: nothing does, or RESUME alone is repeated. */
  finishing: (FinishingRun & { readonly targets: readonly PauseTarget[] }) | null;
}

/** How many runs are kept at most, those included that are over and remembered. */
const runsMax = 64;
/** How many runs of one cluster may have something open: each keeps consoles. One rolecall has one at a time. */
const openMax = 4;
/** How often the runs are looked at, and an unverified RESUME is repeated, in ms. */
const intervalMs = 250;
/** A process that is late by more than this did not run for a while, in ms. */
const lateMs = 500;
/** How many databases of one pooler are resumed at once: each takes a console. */
const atOnce = 8;
/** How long opening the consoles of an announcement may take, in ms. */
const openMs = 1_000;

/**
 * Finishes what another rolecall has begun and no longer can finish. The other one announces what it is about to pause, and
 * sends heartbeats. 2 s after the last one, or soon after its deadline, this one takes over: where the switchover may have
 * been requested, it leads the clients to the new primary and resumes them; it repeats RESUME until its effect is seen, and
 * tells the other one. A restart forgets everything but what it has promised.
 */
export class PauseKeeper {
  readonly #context: PauseKeeperContext;
  readonly #lines: LimitedLines;
  readonly #runs = new Map<string, KeptRun>();
  #isTicking = false;
  #tickedAtMs = 0;

  constructor(context: PauseKeeperContext) {
    this.#context = context;
    const limit = { what: "pauses that cannot be lifted", level: "warn", max: 10, periodMs: 10_000 } as const;
    this.#lines = new LimitedLines(context.log, limit);
    context.scope.hold("what other rolecalls have announced", () => this.#letGo());
  }

  /** How many databases it watches, and how many it resumes. Zero for a cluster whose runs are over. */
  get held(): readonly HeldCount[] {
    return [...this.#runs.values()].flatMap(({ announcement: { cluster }, watch }) => {
      if (watch === null) return [];
      const count = watch.open.length;
      const isHeld = watch.kind === "held";
      return [
        { cluster, state: "watched", databases: isHeld ? count : 0 },
        { cluster, state: "resuming", databases: isHeld ? 0 : count },
      ];
    });
  }

  /** The runs that keep others from beginning: they are announced, or finished here. */
  get open(): readonly OpenRun[] {
    return [...this.#runs.values()].flatMap(({ announcement, from, watch, finishing }) => {
      if (watch !== null && (watch.open.length === 0 || (watch.kind === "taken_over" && finishing === null))) return [];
      const { run, cluster, poolers } = announcement;
      const what = `a switchover of ${cluster} (${run}) of ${from} goes on`;
      return [{ run, cluster, databases: watch?.open ?? flatTargets(poolers), what }];
    });
  }

  /**
   * Takes an announcement (`POST /pauses`), and reaches all of its poolers.
   * @param hasLeft whether the caller no longer waits for the answer: then nothing is watched for it
   */
  async announce(body: unknown, { from, only }: PauseCaller, hasLeft: () => boolean): Promise<PauseAnswer> {
    const read = readAnnouncement(body);
    if (typeof read === "string") return { kind: "unreadable", problem: read };
    const { run, cluster } = read;
    if (only !== null && cluster !== only)
      return { kind: "refused", problem: `this listener does not answer for ${cluster}` };
    if (this.#runs.has(run)) return { kind: "refused", problem: `the run ${run} is known already` };
    if (this.#hasEnded) return { kind: "unreached", problem: "rolecall is stopping" };
    if (this.#openRuns(cluster) >= openMax)
      return { kind: "unreached", problem: `${openMax} runs of ${cluster} are watched already` };
    if (!this.#hasRoom()) return { kind: "unreached", problem: `${runsMax} runs are watched already` };
    const kept: KeptRun = {
      announcement: read,
      by: { run, cluster, generation: read.finish?.generation ?? 0 },
      from,
      watch: null,
      poolers: new Map(),
      resumers: new Map(),
      taken: [],
      finishing: null,
    };
    this.#runs.set(run, kept);
    const reached = await this.#reach(kept);
    // It may have ended meanwhile, and this process too.
    const isWanted = this.#runs.get(run) === kept && !this.#hasEnded && !hasLeft();
    if (reached.kind === "reached" && isWanted) {
      this.#watch(kept);
      return { kind: "acknowledged" };
    }
    this.#forget(kept);
    return reached.kind === "reached" ? { kind: "unreached", problem: "the caller has left" } : reached;
  }

  /** Takes a heartbeat (`POST /pauses/{run}/heartbeat`). */
  beat(run: string, body: unknown, only: string | null): PauseAnswer {
    const heartbeat = readHeartbeat(body);
    if (typeof heartbeat === "string") return { kind: "unreadable", problem: heartbeat };
    const kept = this.#find(run, only);
    if (kept === null || kept.watch === null) return { kind: "unknown_run" };
    this.#advance(kept, { kind: "beat", ...heartbeat });
    this.#context.onHeard(run);
    return kept.watch.kind === "held" ? { kind: "held" } : { kind: "taken_over", by: this.#context.name };
  }

  /** Ends a run of which nothing is paused any more (`DELETE /pauses/{run}`). */
  end(run: string, only: string | null): PauseAnswer {
    const kept = this.#find(run, only);
    if (kept === null) return { kind: "unknown_run" };
    this.#forget(kept);
    this.#context.onOver(run);
    return { kind: "ended" };
  }

  get #hasEnded(): boolean {
    return this.#context.scope.signal.aborted;
  }

  #letGo(): void {
    for (const kept of this.#runs.values()) {
      const { announcement, watch } = kept;
      if (watch !== null && watch.open.length > 0)
        this.#context.log.warn(
          { run: announcement.run, cluster: announcement.cluster, poolers: byPooler(watch.open) },
          "stopping; pauses of another rolecall are no longer watched",
        );
      this.#forget(kept);
    }
    this.#lines.end();
  }

  /**
   * Reaches the poolers, and opens consoles for what comes first: a PgBouncer whose clients wait may have no connection
   * left for a new one.
   */
  async #reach(kept: KeptRun): Promise<Reached> {
    const { poolers: announced } = kept.announcement;
    const reached = await reachPoolers(kept.announcement, this.#context.poolers());
    if (reached.kind !== "reached") return reached;
    kept.poolers = reached.poolers;
    for (const { pooler, databases } of announced) {
      const found = reached.poolers.get(pooler);
      if (found === undefined) continue;
      for (const database of databases.slice(0, atOnce)) {
        const resumer = new TargetResumer({ by: kept.by, database, console: found.console }, limitOf(found));
        kept.resumers.set(pauseName({ pooler, database }), resumer);
      }
    }
    try {
      await Promise.all([...kept.resumers.values()].map((resumer) => resumer.console(openMs)));
      return reached;
    } catch (error) {
      return { kind: "unreached", problem: errorMessage(error) };
    }
  }

  #watch(kept: KeptRun): void {
    const { log, now } = this.#context;
    const { run, cluster, deadlineMs, poolers: announced } = kept.announcement;
    const nowMs = now();
    kept.watch = {
      kind: "held",
      open: flatTargets(announced),
      watched: flatTargets(announced),
      heardAtMs: nowMs,
      deadlineAtMs: nowMs + deadlineMs,
      mayBeRequested: kept.announcement.finish?.mayBeRequested ?? false,
    };
    log.info(
      { run, cluster, from: kept.from, deadline_ms: deadlineMs, poolers: byPooler(kept.watch.open) },
      "pauses of another rolecall are watched",
    );
    if (this.#isTicking) return;
    this.#tickedAtMs = nowMs;
    this.#tickLater();
  }

  #tickLater(): void {
    this.#isTicking = true;
    this.#context.scope.setTimer(() => this.#tick(), intervalMs);
  }

  #tick(): void {
    const nowMs = this.#context.now();
    const stoodStill = nowMs - this.#tickedAtMs > intervalMs + lateMs;
    this.#tickedAtMs = nowMs;
    for (const kept of this.#runs.values()) this.#advance(kept, { kind: "tick", stoodStill });
    this.#isTicking = false;
    if ([...this.#runs.values()].some(({ watch }) => watch !== null)) this.#tickLater();
  }

  #advance(kept: KeptRun, event: WatchEvent): void {
    const before = kept.watch;
    if (before === null) return;
    const after = nextWatch(before, event, this.#context.now());
    if (after === null) {
      this.#giveUp(kept, before);
      return;
    }
    kept.watch = after;
    if (after.kind !== "taken_over") return;
    if (event.kind === "beat")
      for (const [at, target] of (kept.finishing?.targets ?? []).entries())
        if (!after.open.some((open) => pauseName(open) === pauseName(target))) kept.finishing?.letGo(at);
    if (before.kind === "held") {
      kept.taken = after.open;
      this.#report("taken_over", kept, after.cause);
      kept.finishing = this.#finish(kept, after);
      if (kept.finishing === null) this.#resumeOpen(kept);
    } else if (event.kind === "resumed" && before.open.length > 0 && after.open.length === 0)
      this.#onLifted(kept, after.cause);
  }

  /** Goes on with the run as the process did that is silent. @returns `null` if only RESUME is possible */
  #finish(kept: KeptRun, watch: Extract<WatchedRun, { readonly kind: "taken_over" }>): KeptRun["finishing"] {
    const { announcement, poolers, resumers, from } = kept;
    const { run, cluster, finish } = announcement;
    if (finish === null) return null;
    const targets = watch.open.flatMap((target) => {
      const reached = poolers.get(target.pooler);
      const { user, passwordFile, tls, address } = reached?.console ?? {};
      if (user === undefined || passwordFile === undefined || tls === undefined || address === undefined) return [];
      const resumer = resumers.get(pauseName(target)) ?? null;
      return [{ ...target, console: { user, passwordFile, tls, address }, resumer }];
    });
    const onResumed = (target: number): void => {
      const done = targets[target];
      if (done !== undefined) this.#advance(kept, { kind: "resumed", target: done });
    };
    const onEnd = (): void => {
      kept.finishing = null;
      // What is left keeps nobody from another run.
      this.#context.onOver(run);
      for (const { resumer } of targets) resumer?.close();
      kept.resumers.clear();
      this.#resumeOpen(kept);
    };
    const { mayBeRequested, deadlineAtMs: deadlineMs } = watch;
    const why = `${from} is silent`;
    const names = new Set(watch.watched.map(pauseName));
    const watched = [...targets.entries()].flatMap(([at, target]) => (names.has(pauseName(target)) ? [at] : []));
    const adopted = { mayBeRequested, open: [...targets.keys()], watched, deadlineMs, why };
    const lowered = [...poolers].flatMap(([pooler, { loginRetry }]) =>
      loginRetry === null ? [] : [{ pooler, before: loginRetry }],
    );
    const finishing = this.#context.finish({ run, cluster, finish, targets, lowered, onResumed, onEnd }, adopted);
    return finishing === null ? null : { targets, letGo: (at) => finishing.letGo(at), stop: () => finishing.stop() };
  }

  #onLifted(kept: KeptRun, cause: TakeoverCause): void {
    this.#report("lifted", kept, cause);
    this.#context.onOver(kept.announcement.run);
  }

  #resumeOpen(kept: KeptRun): void {
    for (const { pooler } of byPooler(kept.watch?.open ?? [])) void this.#resumeAll(kept, pooler);
  }

  #report(kind: KeptPauses["kind"], { announcement, from, taken }: KeptRun, cause: TakeoverCause): void {
    const { run, cluster } = announcement;
    this.#context.onChange({ kind, cause, run, cluster, from, databases: taken.map(pauseName) });
  }

  #forget(kept: KeptRun): void {
    const { run } = kept.announcement;
    if (this.#runs.get(run) === kept) this.#runs.delete(run);
    kept.finishing?.stop();
    for (const resumer of kept.resumers.values()) resumer.close();
  }

  #giveUp(kept: KeptRun, { open }: WatchedRun): void {
    const { run, cluster } = kept.announcement;
    this.#forget(kept);
    if (open.length > 0)
      this.#context.log.error({ run, cluster, poolers: byPooler(open) }, "pauses could not be lifted within a day");
  }

  /** Repeats RESUME on one pooler until it is verified for each database, or the run is over. */
  async #resumeAll(kept: KeptRun, pooler: string): Promise<void> {
    for (;;) {
      const open = this.#openAt(kept, pooler);
      for (let at = 0; at < open.length; at += atOnce)
        await Promise.all(open.slice(at, at + atOnce).map((target) => this.#resume(kept, target)));
      if (this.#openAt(kept, pooler).length === 0) return;
      await this.#context.scope.wait(intervalMs);
    }
  }

  async #resume(kept: KeptRun, target: PauseTarget): Promise<void> {
    const reached = kept.poolers.get(target.pooler);
    // The other rolecall may have resumed it meanwhile: then somebody else may have paused it since.
    const isOpen = this.#openAt(kept, target.pooler).some((open) => pauseName(open) === pauseName(target));
    if (reached === undefined || !isOpen) return;
    const { announcement, by } = kept;
    const { run, cluster } = announcement;
    const prepared = kept.resumers.get(pauseName(target));
    const done = await (prepared?.resume() ??
      resumeTarget({ by, database: target.database, console: reached.console }, limitOf(reached)));
    const line = { run, cluster, pooler: target.pooler, database: target.database };
    if (done.kind !== "unsure") {
      // The next database may need the connection.
      prepared?.close();
      this.#context.log.info(line, "pause of another rolecall lifted");
      this.#advance(kept, { kind: "resumed", target });
    } else if (!this.#hasEnded)
      this.#lines.write({ level: "warn", text: "pause of another rolecall cannot be lifted yet" }, () => ({
        ...line,
        problem: done.problem,
      }));
  }

  /** What this process has to resume at a pooler. Nothing once the run is over. */
  #openAt(kept: KeptRun, pooler: string): readonly PauseTarget[] {
    const { announcement, watch } = kept;
    if (watch?.kind !== "taken_over" || this.#runs.get(announcement.run) !== kept) return [];
    return watch.open.filter((target) => target.pooler === pooler);
  }

  #find(run: string, only: string | null): KeptRun | null {
    const kept = this.#runs.get(run);
    return kept === undefined || (only !== null && kept.announcement.cluster !== only) ? null : kept;
  }

  #openRuns(cluster: string): number {
    return [...this.#runs.values()].filter(
      ({ announcement, watch }) => announcement.cluster === cluster && (watch === null || watch.open.length > 0),
    ).length;
  }

  /** Forgets the oldest run that is over, if there is no room for another one. */
  #hasRoom(): boolean {
    if (this.#runs.size < runsMax) return true;
    const over = [...this.#runs].find(([, { watch }]) => watch?.kind === "taken_over" && watch.open.length === 0);
    if (over !== undefined) this.#forget(over[1]);
    return over !== undefined;
  }
}

/** Four times what the pooler needed before: a network that is cut must be seen soon, and a far one take its time. */
function limitOf({ tookMs }: ReachedPooler): number {
  return Math.min(5_000, Math.max(500, Math.round(4 * tookMs)));
}
