import { clusterNamed } from "../cluster/lookup.js";
import { drainMsMax } from "../cluster/drain.js";
import { drainOf } from "../health/evidence/active-drain.js";
/**
 * How often ended drains are removed, in ms. Verdicts do not depend on it: they compare the drain's end with the time.
 */
const sweepIntervalMs = 1_000;
/** Begins and ends drains, and reports each: who, what, why, until when. */
export class Drains {
    #store;
    #context;
    #timer = null;
    constructor(store, context) {
        this.#store = store;
        this.#context = context;
    }
    /** Restores the drains of an earlier run that have not ended, and starts to remove ended ones. */
    start(saved) {
        for (const drain of saved)
            this.#restore(drain);
        this.#timer ??= setInterval(() => this.sweep(), sweepIntervalMs).unref();
    }
    stop() {
        if (this.#timer !== null)
            clearInterval(this.#timer);
        this.#timer = null;
    }
    snapshot() {
        return this.#store.current;
    }
    /** Our time, in ms. */
    now() {
        return this.#context.clock.now();
    }
    /** Drains a node from now on, in place of a drain that it may have. The cluster must be a monitored one. */
    begin(cluster, node, request) {
        const { clock, onChange } = this.#context;
        const { forMs, ...rest } = request;
        this.sweep();
        const wallMs = clock.wall();
        const drain = {
            ...rest,
            untilMs: clock.now() + forMs,
            since: formatInstant(wallMs),
            until: formatInstant(wallMs + forMs),
        };
        this.#record(cluster, node, drain);
        onChange({ kind: "begun", cluster, node, drain, endedBy: null });
    }
    /** Ends a node's drain. @returns whether there was one */
    end(cluster, node, by) {
        this.sweep();
        const drain = this.#find(cluster, node);
        if (drain === null)
            return false;
        this.#record(cluster, node, null);
        this.#context.onChange({ kind: "ended", cluster, node, drain, endedBy: by });
        return true;
    }
    /** Removes the drains whose time is over, and reports each. */
    sweep() {
        const nowMs = this.now();
        for (const cluster of this.#store.current.clusters) {
            for (const [node, drain] of cluster.drains) {
                if (nowMs < drain.untilMs)
                    continue;
                this.#record(cluster.name, node, null);
                this.#context.onChange({ kind: "expired", cluster: cluster.name, node, drain, endedBy: null });
            }
        }
    }
    #restore({ cluster, node, ...rest }) {
        const { clock, log } = this.#context;
        const remainingMs = Math.min(Date.parse(rest.until) - clock.wall(), drainMsMax);
        if (remainingMs <= 0)
            return;
        const drain = { ...rest, untilMs: clock.now() + remainingMs };
        this.#record(cluster, node, drain);
        log.info({ audit: true, cluster, node, ...logFields(drain) }, "drain restored after a restart");
    }
    #find(cluster, node) {
        const state = clusterNamed(this.#store.current, cluster);
        return state === undefined ? null : drainOf(state, node, this.now());
    }
    #record(cluster, node, drain) {
        this.#context.record({ kind: "drain", cluster, node, drain });
    }
}
function logFields({ reason, by, isAll, until }) {
    return { reason, by, all: isAll, until };
}
function formatInstant(wallMs) {
    return new Date(wallMs).toISOString();
}
//# sourceMappingURL=drains.js.map