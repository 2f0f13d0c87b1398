import { HaproxyBalancer } from "../push/haproxy/haproxy-balancer.js";
import { VerdictFollower } from "../push/verdict-follower.js";
/** Sends changes of verdicts to the configured balancers. Without any it holds no timer and no connection. */
export class BalancerPushes {
    #context;
    #follower;
    #running = new Map();
    constructor(context) {
        const { cluster, policy, now } = context;
        this.#context = context;
        this.#follower = new VerdictFollower({
            cluster,
            policy,
            now,
            onChanges: (balancer, changes) => this.#running.get(balancer)?.balancer.push(changes),
        });
    }
    /** Sends to these balancers from now on. A balancer whose configuration stays keeps its connection and verdicts. */
    configure(balancers) {
        const before = this.#running;
        const next = new Map(balancers.map((config) => [config.name, this.#keptOrNew(config)]));
        const isKept = ([name, { balancer }]) => before.get(name)?.balancer === balancer;
        this.#running = next;
        for (const [name, { balancer }] of before) {
            if (next.get(name)?.balancer === balancer)
                continue;
            balancer.stop();
            if (!next.has(name))
                this.#context.metrics.forget(name);
        }
        const kept = [...next].filter(isKept).map(([name]) => name);
        this.#follower.configure(balancers.flatMap(poolsOf), new Set(kept));
        for (const entry of next)
            if (!isKept(entry))
                entry[1].balancer.start();
    }
    /** Judges the servers of a cluster whose state has changed. An internal error here must not reach the probes. */
    clusterChanged(cluster) {
        try {
            this.#follower.clusterChanged(cluster);
        }
        catch (error) {
            this.#context.log.error({ err: error, cluster }, "balancers not updated");
        }
    }
    /** Stops. Sends nothing more: HAProxy's checks decide. */
    stop() {
        this.#follower.stop();
        for (const { balancer } of this.#running.values())
            balancer.stop();
    }
    #keptOrNew(config) {
        const known = this.#running.get(config.name);
        if (known !== undefined && JSON.stringify(known.config) === JSON.stringify(config))
            return known;
        const { log, now, metrics } = this.#context;
        const current = (balancer) => this.#follower.current(balancer);
        return { config, balancer: new HaproxyBalancer(config, { log, now, metrics, current }) };
    }
}
function poolsOf({ name, haproxy }) {
    return haproxy.backends.map(({ name: backend, cluster, check, servers, weight }) => ({
        balancer: name,
        backend,
        cluster,
        check,
        servers,
        cutsSessions: haproxy.cutSessions,
        weight,
    }));
}
//# sourceMappingURL=balancer-pushes.js.map