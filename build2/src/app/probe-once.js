import { setTimeout as pause } from "node:timers/promises";
import { walReached } from "../health/evidence/position.js";
import { overview } from "../health/explain/overview.js";
import { Probers } from "../probe/probers.js";
import { buildClusters, livenessIntervalFactor } from "../state/clusters.js";
import { Store } from "../state/store.js";
const singleLook = {
    forMs: 0,
    isDone: () => true,
    signal: new AbortController().signal,
    onProgress: () => { },
};
/** How often a watch looks whether it is done, in ms. */
const lookIntervalMs = 100;
/**
 * Probes every node of every cluster once, as a serving process does, and stops. Takes at most one probe timeout.
 * Evidence that needs several probes is missing: time lag, attachment, the history of the leader. With a watch, probes
 * go on as those of a serving process do, so that such evidence comes.
 * @param onTlsProblem receives each problem with the TLS files of a cluster
 */
export async function probeOnce(config, onTlsProblem, watch = singleLook) {
    const store = new Store("once", buildClusters(config, new Map()));
    const cluster = (name) => store.current.clusters.find((candidate) => candidate.name === name);
    const policy = (name) => store.policyOf(name);
    const probers = new Probers({
        record: (outcome) => store.record(outcome, now()),
        cluster,
        policy,
        now,
        wall: () => Date.now(),
        random: Math.random,
        onProbeFinished: () => { },
        onTls: (name, problem) => {
            if (problem !== null)
                onTlsProblem(name, problem);
        },
    });
    const firstPositions = new Map();
    store.onChange((before, after) => {
        keepFirstPositions(firstPositions, after);
        probers.onChange(before, after);
    });
    let startedAtMs = null;
    let endedAtMs = null;
    const probed = {
        get snapshot() {
            return store.current;
        },
        cluster,
        policy,
        now,
        overview: () => overview(store.current, policy, now()),
        firstReached: (name, node) => firstPositions.get(`${name}/${node}`) ?? null,
        watchedMs: () => (startedAtMs === null ? 0 : (endedAtMs ?? now()) - startedAtMs),
    };
    try {
        await probers.start(config, livenessIntervalFactor);
        if (watch.forMs > 0) {
            startedAtMs = now();
            await watchOn(probed, watch);
            endedAtMs = now();
        }
    }
    finally {
        probers.stop();
    }
    return probed;
}
async function watchOn(probed, { forMs, isDone, signal, onProgress }) {
    const endMs = now() + forMs;
    for (;;) {
        onProgress(probed);
        const leftMs = endMs - now();
        if (leftMs <= 0 || signal.aborted || isDone(probed))
            return;
        await pause(Math.min(lookIntervalMs, leftMs), undefined, { signal }).catch(() => { }); // aborted: the loop ends
    }
}
function keepFirstPositions(first, { name, nodes }) {
    for (const { node, report } of nodes) {
        const key = `${name}/${node.name}`;
        const reached = report === null ? null : walReached(report);
        if (reached !== null && !first.has(key))
            first.set(key, reached);
    }
}
/** A monotonic clock, in ms. */
function now() {
    return performance.now();
}
//# sourceMappingURL=probe-once.js.map