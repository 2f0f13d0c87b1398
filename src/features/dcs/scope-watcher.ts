import type { DcsRead, DcsResult } from "../../core/cluster/dcs.ts";
import type { SetTimer } from "../../core/cluster/timer.ts";
import type { Failure } from "../../core/cluster/values/failure.ts";
import { afterFailure, afterSuccess, backoffMs, type Backoff } from "../../core/probe/schedule/backoff.ts";
import { PeriodicTask } from "../../core/probe/schedule/periodic-task.ts";
import type { WatchEnd } from "../../core/etcd/etcd-messages.ts";
import type { DcsChange, DcsSource, DcsWatch } from "../../core/dcs/dcs-source.ts";

/** What a watcher depends on, and reports to. */
export interface ScopeWatcherContext {
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly random: () => number;
  /** Default: `setTimeout`. */
  readonly setTimer?: SetTimer | undefined;
  /** Called with a read that differs from the last one, and with a failure once no server of the DCS can be read. */
  readonly onResult: (result: DcsResult, sentAtMs: number) => void;
  /** A change was announced. `member`: the new leader; `null`: it is a reason to look at all nodes. */
  readonly onHint: (member: string | null) => void;
  readonly onRead: (outcome: "answered" | "failed") => void;
  /** The watch ended, and another one follows. */
  readonly onWatchEnd: (end: WatchEnd | MissedChange) => void;
}

/** A read found a change that the watch did not announce. */
export interface MissedChange {
  readonly cause: "missed";
  readonly detail: string;
}

/**
 * Time between two reads without an event, in ms: etcd has lost DELETE events, and a watch can hang after a loss of
 * quorum.
 */
const readIntervalMs = 3_000;
/**
 * The shortest time between two reads, in ms, however many events come. After an event of the leader key it is short,
 * because only the read withdraws a yes.
 */
const readGapMs = { leader: 5, other: 50 } as const;
/** While no server can be read, an announced leader is tried so often and so long, in ms: a yes depends on it. */
const unconfirmed = { gapMs: 50, forMs: 2_000 } as const;
/** How long the watch may take to announce a change that a read has found, in ms. */
const announceMs = 1_000;
/** A watch that lasts this long is no failure, in ms. */
const steadyWatchMs = 30_000;

interface OpenWatch {
  readonly handle: DcsWatch;
  readonly openedAtMs: number;
}

/**
 * Watches one scope of a DCS: a watch announces changes, and linearizable reads confirm them, one after each event and
 * one every few seconds. Where the two differ, the reads count.
 */
export class ScopeWatcher {
  readonly #source: DcsSource;
  readonly #context: ScopeWatcherContext;
  readonly #task: PeriodicTask;
  #readBackoff: Backoff = { firstMs: 250, maxMs: 5_000, failures: 0 };
  #watchBackoff: Backoff = { firstMs: 100, maxMs: 5_000, failures: 0 };
  #watch: OpenWatch | null = null;
  #watchDueMs = -Infinity;
  #last: DcsRead | null = null;
  #isUp = false;
  #lastReadMs = -Infinity;
  /** The leader that was announced last; `undefined` before the first event of a watch. */
  #announced: string | null | undefined = undefined;
  /** Since when a leader is announced that no read has confirmed; `null`: none is. */
  #unconfirmedSinceMs: number | null = null;
  #missedSinceMs: number | null = null;

  constructor(source: DcsSource, context: ScopeWatcherContext) {
    this.#source = source;
    this.#context = context;
    const { now, random, setTimer } = context;
    this.#task = new PeriodicTask(() => this.#look(), { now, random, setTimer });
  }

  /** Reads and watches from now on. */
  start(): void {
    void this.#task.run();
  }

  /** As {@link DcsSource.isChangePending}. */
  isChangePending(): Promise<boolean | null> {
    return this.#source.isChangePending();
  }

  /** Ends the watch and closes the source. */
  stop(): void {
    this.#task.stop();
    this.#closeWatch();
    this.#source.close();
  }

  async #look(): Promise<number> {
    const { now } = this.#context;
    const sentAtMs = now();
    this.#lastReadMs = sentAtMs;
    const result = await this.#source.read();
    if (this.#task.isStopped) return Infinity;
    this.#context.onRead("read" in result ? "answered" : "failed");
    if ("failure" in result) {
      this.#fail(result.failure, sentAtMs);
      // The next server is tried at once, until each has failed.
      const haveAllFailed = this.#readBackoff.failures >= this.#source.serverCount;
      return now() - sentAtMs + (haveAllFailed ? this.#failurePauseMs(now()) : 0);
    }
    this.#readBackoff = afterSuccess(this.#readBackoff);
    this.#take(result.read, sentAtMs);
    this.#ensureWatch(result.read);
    return this.#source.readIntervalMs ?? readIntervalMs;
  }

  #failurePauseMs(nowMs: number): number {
    const pauseMs = backoffMs(this.#readBackoff);
    return this.#isUnconfirmed(nowMs) ? Math.min(unconfirmed.gapMs, pauseMs) : pauseMs;
  }

  #isUnconfirmed(nowMs: number): boolean {
    return this.#unconfirmedSinceMs !== null && nowMs - this.#unconfirmedSinceMs < unconfirmed.forMs;
  }

  #fail(failure: Failure, sentAtMs: number): void {
    // The next server is another one: the watch moves there too.
    this.#closeWatch();
    // Reported once, when every server has failed: a sole server twice, since one lost request proves little.
    const reportedAt = Math.max(2, this.#source.serverCount);
    // Attempts in quick succession lengthen no later pause.
    if (this.#isUnconfirmed(this.#context.now()) && this.#readBackoff.failures >= reportedAt) return;
    this.#readBackoff = afterFailure(this.#readBackoff);
    if (this.#readBackoff.failures !== reportedAt) return;
    this.#isUp = false;
    this.#context.onResult({ failure }, sentAtMs);
  }

  #take(read: DcsRead, sentAtMs: number): void {
    const { now, onResult, onHint } = this.#context;
    const before = this.#last;
    this.#last = read;
    this.#unconfirmedSinceMs = null;
    const isChanged = before === null || before.leader !== read.leader || isNotComparable(before, read);
    if (before !== null && before.leader !== read.leader && this.#announced !== read.leader) {
      // The read was first, or the watch has lost an event.
      this.#missedSinceMs ??= now();
      onHint(read.leader);
    }
    if (isChanged || !this.#isUp) onResult({ read }, sentAtMs);
    this.#isUp = true;
  }

  #ensureWatch({ revision }: DcsRead): void {
    const nowMs = this.#context.now();
    if (this.#watch !== null && this.#missedSinceMs !== null && nowMs - this.#missedSinceMs >= announceMs) {
      this.#context.onWatchEnd({ cause: "missed", detail: "a read found a change that the watch did not announce" });
      this.#closeWatch();
    }
    if (this.#watch !== null || nowMs < this.#watchDueMs) return;
    this.#missedSinceMs = null;
    this.#announced = undefined;
    const handle = this.#source.watch(revision, (change) => this.#onChange(change));
    const watch = { handle, openedAtMs: nowMs };
    this.#watch = watch;
    void this.#reopenAfter(watch);
  }

  async #reopenAfter(watch: OpenWatch): Promise<void> {
    const end = await watch.handle.ended;
    if (this.#watch === watch) this.#onEnd(end, watch.openedAtMs);
  }

  #onChange(change: DcsChange): void {
    if (this.#task.isStopped) return;
    if (change.kind === "leader") {
      this.#announced = change.names;
      if (this.#last?.leader === change.names) this.#missedSinceMs = null;
      else this.#unconfirmedSinceMs = this.#context.now();
    }
    this.#context.onHint(change.kind === "leader" ? change.names : null);
    this.#task.runBy(Math.max(this.#context.now(), this.#lastReadMs + readGapMs[change.kind]));
  }

  #onEnd(end: WatchEnd, openedAtMs: number): void {
    const nowMs = this.#context.now();
    this.#watch = null;
    if (this.#task.isStopped) return;
    const isSteady = nowMs - openedAtMs >= steadyWatchMs;
    this.#watchBackoff = afterFailure(isSteady ? afterSuccess(this.#watchBackoff) : this.#watchBackoff);
    this.#watchDueMs = nowMs + backoffMs(this.#watchBackoff);
    this.#context.onWatchEnd(end);
    this.#task.runBy(Math.max(this.#watchDueMs, this.#lastReadMs + readGapMs.other));
  }

  #closeWatch(): void {
    this.#watch?.handle.cancel();
    this.#watch = null;
  }
}

/**
 * Whether a read cannot continue the one before: it is of another DCS or key, of a DCS that was restored, or of a scope
 * that had no keys, or has none any more.
 */
function isNotComparable(before: DcsRead, read: DcsRead): boolean {
  return before.source !== read.source || read.revision < before.revision || before.hasScope !== read.hasScope;
}
