import { afterFailure, afterSuccess, backoffMs } from "../../probe/schedule/backoff.js";
import { PeriodicTask } from "../../probe/schedule/periodic-task.js";
/**
 * Time between two reads without an event, in ms: etcd has lost DELETE events, and a watch can hang after a loss of
 * quorum.
 */
const readIntervalMs = 3_000;
/** The shortest time between two reads, in ms, however many events come. */
const readGapMs = 50;
/** How long the watch may take to announce a change that a read has found, in ms. */
const announceMs = 1_000;
/** A watch that lasts this long is no failure, in ms. */
const steadyWatchMs = 30_000;
/**
 * Watches one scope of a DCS: a watch announces changes, and linearizable reads confirm them, one after each event and
 * one every few seconds. Where the two differ, the reads count.
 */
export class ScopeWatcher {
    #source;
    #context;
    #task;
    #readBackoff = { firstMs: 250, maxMs: 5_000, failures: 0 };
    #watchBackoff = { firstMs: 100, maxMs: 5_000, failures: 0 };
    #watch = null;
    #watchDueMs = -Infinity;
    #last = null;
    #isUp = false;
    #lastReadMs = -Infinity;
    /** The leader that was announced last; `undefined` before the first event of a watch. */
    #announced = undefined;
    #missedSinceMs = null;
    #isStopped = false;
    constructor(source, context) {
        this.#source = source;
        this.#context = context;
        this.#task = new PeriodicTask(() => this.#look(), { now: context.now, random: context.random });
    }
    /** Reads and watches from now on. */
    start() {
        void this.#task.run();
    }
    /** Ends the watch and closes the source. */
    stop() {
        this.#isStopped = true;
        this.#task.stop();
        this.#closeWatch();
        this.#source.close();
    }
    async #look() {
        const { now } = this.#context;
        const sentAtMs = now();
        this.#lastReadMs = sentAtMs;
        const result = await this.#source.read();
        if (this.#isStopped)
            return Infinity;
        this.#context.onRead("read" in result ? "answered" : "failed");
        if ("failure" in result) {
            this.#fail(result.failure, sentAtMs);
            return now() - sentAtMs + backoffMs(this.#readBackoff);
        }
        this.#readBackoff = afterSuccess(this.#readBackoff);
        this.#take(result.read, sentAtMs);
        this.#ensureWatch(result.read);
        return readIntervalMs;
    }
    #fail(failure, sentAtMs) {
        this.#readBackoff = afterFailure(this.#readBackoff);
        // The next server is another one: the watch moves there too.
        this.#closeWatch();
        if (this.#readBackoff.failures !== Math.max(2, this.#source.serverCount))
            return;
        this.#isUp = false;
        this.#context.onResult({ failure }, sentAtMs);
    }
    #take(read, sentAtMs) {
        const { now, onResult, onHint } = this.#context;
        const before = this.#last;
        this.#last = read;
        const isChanged = before === null || before.leader !== read.leader || isOther(before, read);
        if (before !== null && before.leader !== read.leader && this.#announced !== read.leader) {
            // The read was first, or the watch has lost an event.
            this.#missedSinceMs ??= now();
            onHint(read.leader);
        }
        if (isChanged || !this.#isUp)
            onResult({ read }, sentAtMs);
        this.#isUp = true;
    }
    #ensureWatch({ revision }) {
        const nowMs = this.#context.now();
        if (this.#watch !== null && this.#missedSinceMs !== null && nowMs - this.#missedSinceMs >= announceMs) {
            this.#context.onWatchEnd({ cause: "missed", detail: "a read found a change that the watch did not announce" });
            this.#closeWatch();
        }
        if (this.#watch !== null || nowMs < this.#watchDueMs)
            return;
        this.#missedSinceMs = null;
        this.#announced = undefined;
        const handle = this.#source.watch(revision, (change) => this.#onChange(change));
        const watch = { handle, openedAtMs: nowMs };
        this.#watch = watch;
        void this.#reopenAfter(watch);
    }
    async #reopenAfter(watch) {
        const end = await watch.handle.ended;
        if (this.#watch === watch)
            this.#onEnd(end, watch.openedAtMs);
    }
    #onChange(change) {
        if (this.#isStopped)
            return;
        if (change.kind === "leader") {
            this.#announced = change.names;
            if (this.#last?.leader === change.names)
                this.#missedSinceMs = null;
        }
        this.#context.onHint(change.kind === "leader" ? change.names : null);
        this.#readBy(this.#context.now());
    }
    #onEnd(end, openedAtMs) {
        const nowMs = this.#context.now();
        this.#watch = null;
        if (this.#isStopped)
            return;
        const isSteady = nowMs - openedAtMs >= steadyWatchMs;
        this.#watchBackoff = afterFailure(isSteady ? afterSuccess(this.#watchBackoff) : this.#watchBackoff);
        this.#watchDueMs = nowMs + backoffMs(this.#watchBackoff);
        this.#context.onWatchEnd(end);
        this.#readBy(this.#watchDueMs);
    }
    #readBy(dueMs) {
        this.#task.runBy(Math.max(dueMs, this.#lastReadMs + readGapMs));
    }
    #closeWatch() {
        this.#watch?.handle.cancel();
        this.#watch = null;
    }
}
/** Whether a read is of another DCS or key, of one that was restored, or of a scope that had no keys before. */
function isOther(before, read) {
    return before.source !== read.source || read.revision < before.revision || before.hasScope !== read.hasScope;
}
//# sourceMappingURL=scope-watcher.js.map