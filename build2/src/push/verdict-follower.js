import { viewAt } from "../health/evidence/cluster-view.js";
import { poolVerdicts } from "./pool-verdicts.js";
import { ServerWeight } from "./weight/server-weight.js";
/** The longest time between two updates of a weight, in ms: it also changes with time. */
const weightMs = 1_000;
/** The longest delay of a timer in Node, in ms. */
const delayMaxMs = 2 ** 31 - 1;
/**
 * Finds the changes of verdicts for the servers of balancers. It judges a cluster when its state has changed, and when
 * time alone may change a verdict: one timer for each cluster that has servers to follow.
 */
export class VerdictFollower {
    #context;
    #clusters = new Map();
    constructor(context) {
        this.#context = context;
    }
    /**
     * Follows these pools from now on.
     * @param unchanged names the balancers of which the last verdicts are kept: they get changes only
     */
    configure(pools, unchanged) {
        const before = this.#clusters;
        this.stop();
        for (const name of new Set(pools.map(({ cluster }) => cluster))) {
            const known = [...(before.get(name)?.known ?? [])].filter(([, { pool }]) => unchanged.has(pool.balancer));
            this.#clusters.set(name, {
                pools: pools.filter(({ cluster }) => cluster === name),
                known: new Map(known),
                revision: -1,
                validUntilMs: -Infinity,
                timer: null,
            });
            this.clusterChanged(name);
        }
    }
    /** Judges a cluster whose state may have changed. */
    clusterChanged(name) {
        const followed = this.#clusters.get(name);
        if (followed !== undefined)
            this.#judge(name, followed);
    }
    /** What the servers of a balancer should be now, by the last verdicts. Closes no sessions. */
    current(balancer) {
        const atMs = this.#context.now();
        return [...this.#clusters.values()].flatMap(({ known }) => [...known.values()].flatMap(({ pool, server, target, percent }) => pool.balancer === balancer && (target !== null || percent !== null)
            ? [{ backend: pool.backend, server, target, weight: percent, cutsSessions: false, atMs }]
            : []));
    }
    /** Follows nothing any more, and ends all timers. */
    stop() {
        for (const { timer } of this.#clusters.values())
            if (timer !== null)
                clearTimeout(timer);
        this.#clusters = new Map();
    }
    #judge(name, followed) {
        const cluster = this.#context.cluster(name);
        const policy = this.#context.policy(name);
        if (cluster === undefined || policy === undefined)
            return;
        const nowMs = this.#context.now();
        if (cluster.revision === followed.revision && nowMs < followed.validUntilMs)
            return;
        const view = viewAt(cluster, policy, nowMs);
        let validUntilMs = Infinity;
        const changes = new Map();
        const known = new Map();
        for (const pool of followed.pools) {
            const { servers, validUntilMs: untilMs } = poolVerdicts(view, pool);
            validUntilMs = Math.min(validUntilMs, untilMs, pool.weight === null ? Infinity : nowMs + weightMs);
            for (const verdict of servers) {
                const key = `${pool.balancer} ${pool.backend}/${verdict.server}`;
                const last = followed.known.get(key);
                const next = knownAfter(last, pool, verdict);
                known.set(key, next);
                const change = changeOf(last, next, verdict);
                if (change !== null)
                    changes.set(pool.balancer, [...(changes.get(pool.balancer) ?? []), { ...change, atMs: nowMs }]);
            }
        }
        followed.known = known;
        followed.revision = cluster.revision;
        followed.validUntilMs = validUntilMs;
        this.#schedule(name, followed, validUntilMs - nowMs);
        for (const [balancer, found] of changes)
            this.#context.onChanges(balancer, found);
    }
    #schedule(name, followed, delayMs) {
        if (followed.timer !== null)
            clearTimeout(followed.timer);
        followed.timer = null;
        if (delayMs === Infinity)
            return;
        followed.timer = setTimeout(() => this.clusterChanged(name), Math.min(delayMaxMs, Math.ceil(delayMs)));
        followed.timer.unref();
    }
}
function knownAfter(last, pool, { server, target, isReplaced, load }) {
    const weight = pool.weight === null ? null : (last?.weight ?? new ServerWeight(pool.weight));
    const percent = weight === null || load === null ? null : weight.update(load);
    return { pool, server, target, isCut: target !== "up" && (isReplaced || last?.isCut === true), percent, weight };
}
/** Compares a verdict with the last one of the server. Sessions are closed on a change: a first verdict is none. */
function changeOf(last, { pool, server, target, percent }, { isReplaced }) {
    const cutsSessions = pool.cutsSessions && isReplaced && last !== undefined && !last.isCut;
    const newTarget = target === last?.target ? null : target;
    const weight = percent === last?.percent ? null : percent;
    if (newTarget === null && weight === null && !cutsSessions)
        return null;
    return { backend: pool.backend, server, target: newTarget, weight, cutsSessions };
}
//# sourceMappingURL=verdict-follower.js.map