import { lockHolderOf } from "../../cluster/leadership.js";
import { nodeNamed } from "../../cluster/lookup.js";
import { stateCauses } from "../../health/judge/burst-causes.js";
import { PeriodicTask } from "../schedule/periodic-task.js";
/** The longest burst of one node, in ms (design.md, rule 12). */
const burstMaxMs = 10_000;
/** Time between two probes of named nodes, in ms. */
const namedIntervalMs = 50;
/**
 * Probes the node that a hint names until it is writable, for 10 s at most. A probe is sent every 50 ms: if hints name
 * several nodes, they take turns.
 */
export class NamedBursts {
    #probing;
    #context;
    #task;
    /** When the burst of each named node ends, in ms of the clock; the node whose turn is next comes first. */
    #untilMs = new Map();
    #lastMs = -Infinity;
    constructor(probing, context) {
        this.#probing = probing;
        this.#context = context;
        this.#task = new PeriodicTask(async () => this.#tick(), { now: probing.now });
    }
    /** Begins the burst of a node, unless it is known to be writable. */
    begin(node) {
        const nowMs = this.#probing.now();
        if (nodeNamed(this.#probing.state(), node) === undefined)
            return "unknown";
        if (this.#isWritable(node))
            return "writable";
        if (!this.#context.mayBurst(nowMs))
            return "spent";
        if ((this.#untilMs.get(node) ?? -Infinity) > nowMs)
            return "running";
        this.#untilMs.set(node, nowMs + burstMaxMs);
        this.#probing.onBurst?.({ cluster: this.#probing.cluster, cause: "hint" });
        this.#task.runBy(Math.max(nowMs, this.#lastMs + namedIntervalMs));
        return "begun";
    }
    /** Ends all bursts. */
    stop() {
        this.#task.stop();
        this.#untilMs.clear();
    }
    #tick() {
        const nowMs = this.#probing.now();
        const cluster = this.#probing.state();
        for (const [node, untilMs] of this.#untilMs)
            if (nowMs >= untilMs || nodeNamed(cluster, node) === undefined || this.#isWritable(node))
                this.#untilMs.delete(node);
        if (!this.#context.mayBurst(nowMs))
            this.#untilMs.clear();
        const [turn] = this.#untilMs;
        if (turn === undefined)
            return Infinity;
        const [node, untilMs] = turn;
        this.#untilMs.delete(node);
        this.#untilMs.set(node, untilMs);
        this.#lastMs = nowMs;
        this.#context.spend(nowMs, namedIntervalMs);
        this.#context.probe(node);
        return namedIntervalMs;
    }
    #isWritable(node) {
        const { state, policy, now } = this.#probing;
        const cluster = state();
        return (lockHolderOf(cluster.leadership) === node && stateCauses(cluster, { policy, nowMs: now() }).causes.length === 0);
    }
}
//# sourceMappingURL=named-bursts.js.map