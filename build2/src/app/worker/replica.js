import { Clock, monotonicOriginMs } from "../../state/clock.js";
import { policyOf } from "../../state/clusters.js";
import { Store } from "../../state/store.js";
import { OutcomeReader } from "../../workers/outcome-feed.js";
/**
 * A worker's copy of the main process's snapshot, configuration and clock. It records the same outcomes, so it stays
 * the same.
 */
export class Replica {
    #outcomes = new OutcomeReader();
    #loaded = null;
    #phase = "starting";
    get store() {
        return this.#current().store;
    }
    get clock() {
        return this.#current().clock;
    }
    get config() {
        return this.#current().config;
    }
    /** How the fast path is configured; `false` until the main process has sent its state. */
    get fastPathMode() {
        return this.#loaded?.config.fastPath ?? false;
    }
    /** The relay server of the main process. */
    get relay() {
        return this.#current().relay;
    }
    get phase() {
        return this.#phase;
    }
    /** Takes the full state of the main process, in place of what it had. */
    load({ config, instance, sequence, clusters, phase, clock: reading, originMs, relay }) {
        const monitored = config.clusters.flatMap((cluster, at) => {
            const state = clusters[at];
            return state === undefined ? [] : [{ cluster: state, policy: policyOf(cluster, config.probe) }];
        });
        const clock = this.#loaded?.clock ?? clockOnAxis(originMs);
        clock.syncTo(reading);
        this.#loaded = { store: new Store(instance, monitored, sequence), clock, config, relay };
        this.#phase = phase;
        this.#outcomes.reset();
    }
    /**
     * Records what the main process recorded.
     * @returns whether the snapshot still is the main process's. If not, it must send its full state.
     */
    record({ changes, clock: reading }) {
        // There is nothing to keep up with yet: the full state is still to come.
        if (this.#loaded === null)
            return true;
        const { store, clock } = this.#loaded;
        clock.syncTo(reading);
        for (const { outcome: sent, nowMs, sequence } of changes) {
            const outcome = this.#outcomes.read(sent);
            if (outcome !== undefined)
                store.record(outcome, nowMs);
            if (store.current.sequence !== sequence)
                return false;
        }
        return true;
    }
    enter({ phase, clock }) {
        this.#phase = phase;
        this.#loaded?.clock.syncTo(clock);
    }
    /** Looks for a clock gap. To be called regularly. */
    tick() {
        this.#loaded?.clock.tick();
    }
    #current() {
        if (this.#loaded === null)
            throw new Error("Cannot answer: the main process must send its full state first");
        return this.#loaded;
    }
}
/**
 * A clock on the main process's axis: both count the machine's monotonic time. A late event loop is not reported as a
 * gap (`tickIntervalMs: Infinity`): the main process went on probing, and its messages carry their own times.
 * @param originMs where the main process's clock began, in ms of the machine's monotonic clock
 */
function clockOnAxis(originMs) {
    const offsetMs = monotonicOriginMs() - originMs;
    return new Clock({ tickIntervalMs: Infinity, onGap: () => { }, monotonic: () => performance.now() + offsetMs });
}
//# sourceMappingURL=replica.js.map