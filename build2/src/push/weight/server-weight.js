import { LagWeight } from "./lag-weight.js";
import { WarmUp } from "./warm-up.js";
/** The shortest time between two changes of a server's weight, in ms. */
const changeIntervalMs = 1_000;
/**
 * The weight of one server, in percent: the lower of what its lag and its warm-up allow. It changes at most once a
 * second. Uses no clock: the time is an argument.
 */
export class ServerWeight {
    #lag;
    #warmUp;
    #percent = null;
    #changedAtMs = -Infinity;
    constructor(config) {
        this.#lag = new LagWeight(config);
        this.#warmUp = new WarmUp(config);
    }
    /**
     * Takes what is known now. Call it with every new report of the node, or at least once a second.
     * @returns the weight, a whole number from the floor to 100
     */
    update(input) {
        const wanted = Math.min(this.#lag.update(input), this.#warmUp.update(input));
        const current = this.#percent ?? wanted;
        const mayChange = this.#percent === null || input.nowMs - this.#changedAtMs >= changeIntervalMs;
        if (!mayChange || wanted === this.#percent)
            return current;
        this.#percent = wanted;
        this.#changedAtMs = input.nowMs;
        return wanted;
    }
    /** Applies another configuration. What was observed is kept. */
    configure(config) {
        this.#lag.configure(config);
        this.#warmUp.configure(config);
    }
}
//# sourceMappingURL=server-weight.js.map