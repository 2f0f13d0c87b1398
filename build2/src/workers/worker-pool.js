import { keysOf } from "../http/listener/listener-keys.js";
import { HeartbeatMonitor } from "./heartbeat-monitor.js";
import { replayEvent } from "./listener-events.js";
import { OutcomeFeed } from "./outcome-feed.js";
import { RelayServer } from "./relay-server.js";
import { listenErrorOf } from "./sent-problem.js";
import { SharedSockets } from "./shared-sockets.js";
import { WorkerSlot } from "./worker-slot.js";
import { WorkerStats } from "./worker-stats.js";
/** How long to wait for a fresh report, in ms. */
const reportTimeoutMs = 250;
/** The workers: processes that answer at the health listeners while the main process probes the nodes. */
export class WorkerPool {
    #context;
    #slots;
    #sockets = new SharedSockets();
    #relayServer = new RelayServer();
    #stats = new WorkerStats();
    #feed;
    #heartbeats;
    #relay = { port: 0, secret: "" };
    /** The listeners of the workers as configured; `null` before they are opened for the first time. */
    #configured = null;
    #listeners = [];
    constructor(count, context) {
        this.#context = context;
        const slotContext = {
            log: context.log,
            bringUp: (slot) => this.#bringUp(slot),
            onMessage: (slot, message, socket) => this.#handle(slot, message, socket),
            onLost: (worker) => this.#stats.addExited(worker.report),
        };
        this.#slots = Array.from({ length: count }, (_, number) => new WorkerSlot(number, slotContext));
        this.#heartbeats = new HeartbeatMonitor(() => this.#workers(), context.log);
        this.#feed = new OutcomeFeed((changes) => {
            const { clock } = context.fullState();
            for (const worker of this.#workers())
                worker.send({ kind: "changes", changes, clock });
        });
    }
    /** The listeners that the workers have open. */
    get listeners() {
        return this.#listeners;
    }
    /** Takes a socket that listens already, for the listener with this key. */
    adoptSocket(key, socket) {
        this.#sockets.add(key, socket);
    }
    /** Starts the workers. They answer nothing yet. */
    async start() {
        this.#relay = await this.#relayServer.open();
        this.#heartbeats.start();
        await Promise.all(this.#slots.map((slot) => slot.spawn()));
    }
    /** Passes an outcome that changed the snapshot on to the workers. */
    record(outcome, nowMs, sequence) {
        this.#feed.add(outcome, nowMs, sequence);
        // A drain must be in force when the operator's request is answered.
        if (outcome.kind === "drain")
            this.#feed.flush();
    }
    /** Sends pending outcomes now: the next ones belong to another full state. */
    flush() {
        this.#feed.flush();
    }
    setPhase(phase) {
        const { clock } = this.#context.fullState();
        for (const worker of this.#workers())
            worker.send({ kind: "phase", phase, clock });
    }
    /** Gets a fresh report from every worker that answers in time. */
    async refreshReports() {
        await Promise.all(this.#workers().map((worker) => worker.refreshReport(reportTimeoutMs)));
    }
    /** What the workers answered so far. A route and status may occur more than once. */
    answers() {
        return this.#stats.answers(this.#reports());
    }
    /** What the fast path did in each worker. */
    fastPathCounts() {
        return this.#stats.fastPathCounts(this.#reports());
    }
    /** What the workers used of the machine, how many there are, and how many exited unexpectedly. */
    usage() {
        return this.#stats.usage(this.#reports());
    }
    /**
     * Prepares every worker to have exactly these listeners open.
     * @throws ListenError if a listener cannot be opened; nothing has changed then
     */
    async prepare(configs) {
        const ready = this.#slots.filter(({ worker }) => worker !== null);
        let listeners = [];
        try {
            if (ready.length === 0)
                throw new Error("Cannot listen: no worker started");
            for (const slot of ready)
                listeners = await this.#prepareSlot(slot, configs, null);
        }
        catch (error) {
            this.#abandon(ready);
            throw error;
        }
        return {
            listeners,
            commit: async () => {
                this.#configured = configs;
                this.#listeners = listeners;
                this.#commit(ready);
            },
            abandon: async () => this.#abandon(ready),
        };
    }
    /** Ends all workers. They finish the answers in flight. */
    async stop() {
        this.#heartbeats.stop();
        await Promise.all(this.#slots.map((slot) => slot.stop()));
        this.#relayServer.close();
        this.#retainSockets([]);
    }
    #reports() {
        return this.#workers().map(({ report }) => report);
    }
    /** The workers that answer. */
    #workers() {
        return this.#slots.flatMap(({ worker }) => worker ?? []);
    }
    /** Lets one worker open listeners, on the shared sockets as far as they are open already. */
    async #prepareSlot(slot, configs, fullState) {
        const worker = slot.process;
        if (worker === null)
            throw new Error("Cannot listen: the worker exited");
        this.#sockets.sendTo(slot, keysOf(configs));
        const prepared = await worker.prepare(configs, fullState);
        if ("problem" in prepared)
            throw listenErrorOf(prepared.problem);
        return prepared.listeners;
    }
    #commit(ready) {
        const { handlerFor, eventsOf } = this.#context;
        const relayed = this.#listeners.map(({ key, config }) => [key, { config, handler: handlerFor(config), events: eventsOf(config) }]);
        this.#relayServer.answerFor(new Map(relayed));
        for (const slot of ready)
            this.#sendFullState(slot);
        // A worker that started meanwhile knows only the old listeners.
        for (const slot of this.#slots)
            if (slot.worker !== null && !ready.includes(slot))
                void slot.resync();
        this.#retainSockets(this.#listeners);
    }
    #abandon(ready) {
        for (const { process } of ready)
            process?.send({ kind: "abandon" });
        this.#retainSockets(this.#listeners);
    }
    #retainSockets(listeners) {
        const keys = new Set(listeners.map(({ key }) => key));
        this.#sockets.retain(keys);
        for (const slot of this.#slots)
            for (const key of slot.keys)
                if (!keys.has(key))
                    slot.keys.delete(key);
    }
    /** Makes a new worker answer like the others. Before the first listeners are open there is nothing to answer. */
    async #bringUp(slot) {
        // The configuration may change while the worker opens its listeners.
        for (let configs = this.#configured; configs !== null;) {
            await this.#prepareSlot(slot, configs, this.#fullState());
            if (configs === this.#configured) {
                this.#sendFullState(slot);
                return;
            }
            configs = this.#configured;
        }
    }
    #sendFullState(slot) {
        this.#feed.flushAndReset();
        slot.process?.send({ kind: "commit", fullState: this.#fullState() });
    }
    #fullState() {
        return { ...this.#context.fullState(), relay: this.#relay };
    }
    #handle(slot, message, socket) {
        const { log, eventsOf, onContained } = this.#context;
        switch (message.kind) {
            case "opened":
                this.#sockets.add(message.key, socket);
                slot.keys.add(message.key);
                break;
            case "out_of_sync":
                log.error({ worker: slot.number }, "worker out of sync; sending it the full state");
                this.#sendFullState(slot);
                break;
            case "event":
                replayEvent(message.event, eventsOf(message.event.listener), slot.number);
                break;
            case "fast_path_off":
                log.warn({ node: process.version, worker: slot.number, reason: message.reason }, "fast path off");
                break;
            case "contained":
                onContained(message.problem);
                break;
            case "crashed":
                log.error({ worker: slot.number, problem: message.problem }, "worker crashed on an internal error");
                break;
            case "ready":
            case "prepared":
            case "report":
        }
    }
}
//# sourceMappingURL=worker-pool.js.map