import { FastPathMonitor } from "./fast-path-monitor.js";
import { findNodeInternals } from "./node-internals.js";
import { selfTest } from "./self-test.js";
import { TcpIo } from "./tcp-io.js";
import { isTriedVersion, triedVersions } from "./tried-versions.js";
/** Decides whether this process may use the fast path, and counts what it does. One for all listeners of a process. */
export class FastPathControl {
    monitor;
    #settings;
    #version;
    #reported = new Set();
    #proof = null;
    /** @param version the version of Node, such as `20.18.1` */
    constructor(settings, version = process.versions.node) {
        this.#settings = settings;
        this.#version = version;
        this.monitor = new FastPathMonitor((problem) => settings.onOff(`tripped, all connections use node:http: ${problem}`));
    }
    /**
     * Proves that the fast path works in this process, by a request over loopback. Listeners that open at the same time
     * share one proof. Reports why it must stay off, each reason once. Never rejects.
     * @returns `null` if it must stay off
     */
    prove() {
        this.#proof ??= this.#prove().finally(() => {
            this.#proof = null;
        });
        return this.#proof;
    }
    /** Reports that it stays off. A reason that was reported before is not repeated. */
    stayOff(reason) {
        if (this.#reported.has(reason))
            return null;
        this.#reported.add(reason);
        this.#settings.onOff(reason);
        return null;
    }
    async #prove() {
        const mode = this.#settings.mode();
        if (mode === false || this.monitor.isTripped)
            return null;
        if (mode !== "force" && !isTriedVersion(this.#version))
            return this.stayOff(`it was tried on Node ${triedVersions}, not on ${this.#version} (fast_path: force uses it nevertheless)`);
        const internals = findNodeInternals();
        if ("problem" in internals)
            return this.stayOff(internals.problem);
        const io = new TcpIo(internals);
        const difference = await selfTest(io);
        return difference === null ? io : this.stayOff(`the self-test failed: ${difference}`);
    }
}
//# sourceMappingURL=fast-path-control.js.map