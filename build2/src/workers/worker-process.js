import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { noFastPathCounts } from "../http/message/fast-path-counts.js";
/**
 * Keeps a worker's heap as small as the main process's (cli/framework/v8-tuning.ts) from its start, and collects
 * garbage on the worker's own thread: helper threads would compete with it for its processor, or with other workers for
 * theirs.
 */
const heapFlags = ["--max-semi-space-size=1", "--heap-growing-percent=100", "--single-threaded-gc"];
/** The time limit for what a worker is told to do, in ms. */
const replyTimeoutMs = 15_000;
/** A worker that still runs so long after it was told to close is killed, in ms. */
const closeTimeoutMs = 3_000;
/** One worker, as the main process sees it. */
export class WorkerProcess {
    #child;
    #events;
    #waiting = new Map();
    /** The last report of what it has done. */
    report = { answers: [], fastPath: noFastPathCounts, cpuS: 0, residentBytes: 0 };
    /** How many heartbeats in a row it has missed. */
    missedHeartbeats = 0;
    constructor(child, events) {
        this.#child = child;
        this.#events = events;
        child.on("message", (message, socket) => this.#receive(message, socket));
        // Without a pid the process never started, and there is no "exit". Otherwise a message could not be sent, and
        // "exit" follows.
        child.on("error", (error) => {
            if (child.pid === undefined)
                this.#onExit(error.message);
        });
        child.once("exit", (code, signal) => this.#onExit(signal ?? `exit code ${code}`));
    }
    /** Starts a worker process. @throws Error if the system cannot start one */
    static spawn(events) {
        const stdio = ["ignore", "inherit", "inherit", "ipc"];
        const file = fileURLToPath(new URL("../app/worker.js", import.meta.url));
        return new WorkerProcess(fork(file, [], { stdio, serialization: "advanced", execArgv: heapFlags }), events);
    }
    get pid() {
        return this.#child.pid ?? 0;
    }
    /** Resolves when the new worker receives messages. @throws Error if it exits, or does not start in time */
    async ready() {
        const message = await this.#receiveNext("ready", replyTimeoutMs);
        if (message === null)
            throw new Error("the worker exited, or did not start in time");
    }
    /** Sends a message. To a worker that is gone it is lost. */
    send(message, socket) {
        if (this.#child.connected)
            this.#child.send(message, socket);
    }
    /** Lets the worker open listeners. @throws Error if it exits, or does not reply in time */
    async prepare(listen, fullState) {
        const reply = this.#receiveNext("prepared", replyTimeoutMs);
        this.send({ kind: "prepare", listen, fullState });
        const message = await reply;
        if (message?.kind !== "prepared")
            throw new Error("the worker exited, or did not open its listeners in time");
        return message.prepared;
    }
    /** Gets a fresh report. Resolves when it is there, or after `withinMs`. */
    async refreshReport(withinMs) {
        const reply = this.#receiveNext("report", withinMs);
        this.send({ kind: "report" });
        await reply;
    }
    /** Closes the worker, and kills it if it does not exit in time. Resolves when it is gone. */
    async close() {
        if (this.#child.exitCode !== null || this.#child.signalCode !== null)
            return;
        const exited = new Promise((resolve) => void this.#child.once("exit", () => resolve()));
        this.send({ kind: "close" });
        const timer = setTimeout(() => this.kill(), closeTimeoutMs);
        await exited;
        clearTimeout(timer);
    }
    kill() {
        this.#child.kill("SIGKILL");
    }
    #onExit(how) {
        for (const settle of this.#waiting.values())
            settle(null);
        this.#events.onExit(how);
    }
    #receive(message, socket) {
        this.missedHeartbeats = 0;
        if (message.kind === "report")
            this.report = message.report;
        const settle = this.#waiting.get(message.kind);
        if (settle === undefined)
            this.#events.onMessage(message, socket);
        else
            settle(message);
    }
    /** Resolves with the next message of a kind; with `null` if the worker exits or the time is over. */
    #receiveNext(kind, withinMs) {
        return new Promise((resolve) => {
            const settle = (message) => {
                clearTimeout(timer);
                if (this.#waiting.get(kind) === settle)
                    this.#waiting.delete(kind);
                resolve(message);
            };
            const timer = setTimeout(() => settle(null), withinMs);
            this.#waiting.set(kind, settle);
        });
    }
}
//# sourceMappingURL=worker-process.js.map