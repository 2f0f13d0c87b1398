import { WorkerProcess } from "./worker-process.js";
/** A worker that lives shorter than this, in ms, delays its successor. */
const shortLifeMs = 10_000;
const pauseMinMs = 100;
const pauseMaxMs = 5_000;
/** One place in the worker pool: when its worker exits, a successor starts. */
export class WorkerSlot {
    number;
    /** The keys of the sockets that its worker has. */
    keys = new Set();
    #context;
    #worker = null;
    #isReady = false;
    #shortLivesInRow = 0;
    #retry = null;
    #isStopped = false;
    constructor(number, context) {
        this.number = number;
        this.#context = context;
    }
    /** The worker, if it answers like the others. */
    get worker() {
        return this.#isReady ? this.#worker : null;
    }
    /** The worker in whatever state it is. */
    get process() {
        return this.#worker;
    }
    /** Starts a worker. Resolves when it is ready. If it exits before that, a successor starts by itself. */
    async spawn() {
        const { log, bringUp, onMessage } = this.#context;
        const startedMs = performance.now();
        let worker;
        try {
            worker = WorkerProcess.spawn({
                onMessage: (message, socket) => onMessage(this, message, socket),
                onExit: (how) => this.#replace(worker, how, performance.now() - startedMs),
            });
        }
        catch (error) {
            // The system cannot start a process now (out of memory). It may later.
            log.error({ worker: this.number, err: error, pause_ms: pauseMaxMs }, "worker could not be started");
            this.#retry = setTimeout(() => void this.spawn(), pauseMaxMs);
            return;
        }
        this.#worker = worker;
        this.keys = new Set();
        try {
            await worker.ready();
            this.#isReady = await this.#bringUp(worker, bringUp);
            log.info({ worker: this.number, pid: worker.pid }, "worker started");
        }
        catch (error) {
            if (!this.#isStopped)
                log.error({ worker: this.number, pid: worker.pid, err: error }, "worker did not start");
            worker.kill();
        }
    }
    /** Brings its worker up again, because it missed a change. It does not count as answering meanwhile. */
    async resync() {
        const worker = this.#worker;
        this.#isReady = false;
        if (worker === null)
            return;
        try {
            this.#isReady = await this.#bringUp(worker, this.#context.bringUp);
        }
        catch {
            worker.kill();
        }
    }
    async stop() {
        this.#isStopped = true;
        if (this.#retry !== null)
            clearTimeout(this.#retry);
        await this.#worker?.close();
    }
    /** Brings its worker up. @returns whether the slot still has that worker */
    async #bringUp(worker, bringUp) {
        await bringUp(this);
        return this.#worker === worker;
    }
    #replace(worker, how, livedMs) {
        this.#worker = null;
        this.#isReady = false;
        if (this.#isStopped)
            return;
        this.#context.onLost(worker);
        this.#shortLivesInRow = livedMs < shortLifeMs ? this.#shortLivesInRow + 1 : 0;
        const pauseMs = pauseAfter(this.#shortLivesInRow);
        this.#context.log.error({ worker: this.number, pid: worker.pid, how, pause_ms: pauseMs }, "worker ended; starting another one");
        this.#retry = setTimeout(() => void this.spawn(), pauseMs);
    }
}
/**
 * The pause before the successor starts, in ms: none after one short life, 100 ms after two in a row, then doubled for
 * each further one, up to the maximum.
 */
function pauseAfter(shortLives) {
    return shortLives < 2 ? 0 : Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(shortLives - 2, 10));
}
//# sourceMappingURL=worker-slot.js.map