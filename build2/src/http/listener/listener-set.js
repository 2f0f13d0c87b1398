import { exposureProblem } from "../access/exposure.js";
import { FastPathControl } from "../fast-path/fast-path-control.js";
import { errorReply } from "../message/reply.js";
import { ListenError, settingsError } from "./listen-error.js";
import { listenerKey } from "./listener-keys.js";
import { LineListener } from "./line-listener.js";
import { Listener } from "./listener.js";
/** How long running requests may take after their listener was closed, in ms. */
const graceMs = 1_000;
/**
 * The listeners of this process. Over a reload unchanged ones keep their sockets, and new ones open before old ones
 * close.
 */
export class ListenerSet {
    #context;
    #fastPath;
    #open = new Map();
    constructor(context) {
        this.#context = context;
        this.#fastPath = new FastPathControl(context.fastPath ?? { mode: () => false, onOff: () => { } });
    }
    get listeners() {
        return [...this.#open.values()].map(withoutListener);
    }
    /** What the fast path of this process did. */
    get fastPathCounts() {
        return this.#fastPath.monitor.counts;
    }
    /**
     * Opens the configured listeners that are not open yet.
     * @param isInForce whether the configuration is in force already, so that what is opened may answer at once
     * @throws ListenError if one cannot be opened; then nothing has changed
     */
    async prepare(configs, isInForce = false) {
        const next = new Map();
        const opened = [];
        const accessChanges = [];
        const abandon = async () => void (await Promise.all(opened.map((listener) => listener.close(0))));
        for (const config of configs) {
            const key = listenerKey(config, next);
            try {
                const kept = this.#open.get(key);
                if (kept === undefined)
                    next.set(key, await this.#openListener({ key, config, isInForce }, opened));
                else {
                    refuseExposure(config, kept.listener);
                    accessChanges.push(kept.listener.prepare(config.access));
                    next.set(key, { ...kept, config });
                }
            }
            catch (error) {
                await abandon();
                throw error instanceof Error ? new ListenError(config, error) : error;
            }
        }
        const listeners = [...next.values()].map(withoutListener);
        return { listeners, commit: () => this.#commit(next, accessChanges), abandon };
    }
    /** Closes all listeners. Running requests may finish within a second. */
    async close() {
        await Promise.all([...this.#open.values()].map(({ listener }) => listener.close(graceMs)));
        this.#open.clear();
    }
    async #openListener({ key, config, isInForce }, opened) {
        const { placeOf, onOpened } = this.#context;
        this.#refuseProtocolChange(config);
        const created = config.dialect === "agent" ? this.#createLineListener(config, key) : this.#create(config, key);
        const { listener, enforce } = created;
        if (isInForce)
            enforce(config);
        opened.push(listener);
        const port = await listener.open(placeOf?.(key, config) ?? config);
        refuseExposure(config, listener);
        onOpened?.(key, listener.socket);
        return { key, config, port, ...created };
    }
    #create({ access, ...rest }, key) {
        const { handlerFor, eventsOf } = this.#context;
        const listener = new Listener(notInForce, access, eventsOf({ access, ...rest }));
        return {
            listener,
            enforce: (config) => listener.handleBy(handlerFor(config, key)),
            startFastPath: (control) => listener.startFastPath(control),
        };
    }
    #createLineListener(config, key) {
        const { lineHandlerFor, eventsOf } = this.#context;
        // An empty line is a valid answer that changes nothing.
        const listener = new LineListener(() => "", config.access, eventsOf(config));
        return {
            listener,
            enforce: (inForce) => {
                if (lineHandlerFor !== undefined)
                    listener.handleBy(lineHandlerFor(inForce, key));
            },
            startFastPath: () => Promise.resolve(),
        };
    }
    async #commit(next, accessChanges) {
        const removed = [...this.#open].filter(([key]) => !next.has(key)).map(([, { listener }]) => listener);
        for (const change of accessChanges)
            change();
        for (const { config, enforce } of next.values())
            enforce(config);
        this.#open = next;
        await Promise.all([
            ...removed.map((listener) => listener.close(graceMs)),
            ...[...next.values()].map(({ startFastPath }) => startFastPath(this.#fastPath)),
        ]);
    }
    /** A socket cannot speak two protocols while one replaces the other. */
    #refuseProtocolChange({ address, port }) {
        const isOpen = [...this.#open.values()].some(({ config }) => port !== 0 && config.address === address && config.port === port);
        if (isOpen)
            throw settingsError("a change of tls, tls.client or dialect: agent on an open port needs a restart");
    }
}
function withoutListener({ key, config, port }) {
    return { key, config, port };
}
/** A listener that was opened for nothing answers `notInForce` until it is closed again. */
function refuseExposure(config, { boundAddress }) {
    const problem = exposureProblem(config, boundAddress);
    if (problem !== null)
        throw settingsError(problem);
}
/** Answers on a listener that is open before its configuration is in force. */
function notInForce() {
    return Promise.resolve(errorReply(503, "starting", { message: "Cannot answer: the configuration is not in force yet" }));
}
//# sourceMappingURL=listener-set.js.map