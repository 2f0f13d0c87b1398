import { accessPathsOf, readAccess } from "../config/access-material.js";
import { WatchedFiles } from "../config/watched-files.js";
import { EtcdSource } from "./etcd/etcd-source.js";
import { ScopeWatcher } from "./watch/scope-watcher.js";
/** The deadline of each request to a DCS, in ms. */
export const dcsTimeoutMs = 1_500;
/** Watches the DCS of every cluster that has one configured. Without one nothing runs. */
export class DcsWatches {
    #context;
    #running = new Map();
    constructor(context) {
        this.#context = context;
    }
    /** Watches the clusters of a configuration, in place of those watched so far. Unchanged watches go on. */
    start({ clusters }) {
        const wanted = new Map(clusters.flatMap((cluster) => (cluster.dcs === null ? [] : [[cluster.name, { cluster, dcs: cluster.dcs }]])));
        for (const [name, { settings, stop }] of this.#running) {
            const next = wanted.get(name);
            if (next !== undefined && settings === settingsOf(next.cluster))
                continue;
            stop();
            this.#running.delete(name);
        }
        for (const [name, { cluster, dcs }] of wanted)
            if (!this.#running.has(name))
                this.#running.set(name, this.#watch(cluster, dcs));
    }
    /** Ends all watches. */
    stop() {
        for (const { stop } of this.#running.values())
            stop();
        this.#running.clear();
    }
    /** Files that cannot be read leave the watcher as it is. If there is none yet, reads go on without them, and fail. */
    #watch(cluster, dcs) {
        const { name } = cluster;
        let watcher = null;
        const begin = (access) => {
            watcher?.stop();
            watcher = this.#watcherOf(name, dcsSourceOf(cluster, dcs, access));
            watcher.start();
        };
        const paths = accessPathsOf(dcs);
        const files = new WatchedFiles(paths, () => readAccess(dcs), {
            onChange: (access) => {
                this.#context.onFiles(name, null);
                begin(access);
            },
            onProblem: (problem) => this.#context.onFiles(name, problem),
        });
        begin(files.read() ?? { tls: {}, auth: null });
        files.start();
        return {
            settings: settingsOf(cluster),
            stop: () => {
                files.close();
                watcher?.stop();
            },
        };
    }
    #watcherOf(cluster, source) {
        const { now, random, onResult, onHint, onRead, onWatchEnd } = this.#context;
        return new ScopeWatcher(source, {
            now,
            random,
            onResult: (result, sentAtMs) => onResult(cluster, result, sentAtMs),
            onHint: (member) => onHint(cluster, member),
            onRead: (outcome) => onRead(cluster, outcome),
            onWatchEnd: (end) => onWatchEnd(cluster, end),
        });
    }
}
/** The source of a cluster's keys. @param access the content of its files */
export function dcsSourceOf({ name, scope }, dcs, access) {
    const location = { endpoints: dcs.etcd, prefix: dcs.prefix, scope: dcs.scope ?? scope ?? name };
    return new EtcdSource(location, access, dcsTimeoutMs);
}
function settingsOf({ name, scope, dcs }) {
    return JSON.stringify({ name, scope, dcs });
}
//# sourceMappingURL=dcs-watches.js.map