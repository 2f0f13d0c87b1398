import { readFileSync } from "node:fs";
/**
 * File descriptors that clients' connections may not use: for probes (up to four connections per node), documents,
 * forwarded calls, files, the log and the workers' channels. Half of the limit if it is lower than twice this.
 */
const reserveMax = 512;
/** Limits the connections of the process, whatever the limits of its listeners are. */
export class ConnectionBudget {
    max;
    #count = 0;
    /** @param descriptors the limit of open file descriptors */
    constructor(descriptors) {
        this.max = Math.max(1, descriptors - Math.min(reserveMax, Math.ceil(descriptors / 2)));
    }
    /** Counts a new connection. @returns `false` if there are too many; it is not counted then */
    take() {
        if (this.#count >= this.max)
            return false;
        this.#count += 1;
        return true;
    }
    /** Counts a closed connection. */
    release() {
        this.#count -= 1;
    }
}
/** The budget of this process. All its listeners share one limit of descriptors. */
export const ownBudget = new ConnectionBudget(descriptorLimit());
/**
 * Returns the limit of open file descriptors (`ulimit -n`; Node raises the soft limit to the hard one at start).
 * @returns Infinity if the system does not state it
 */
function descriptorLimit() {
    return fromProc() ?? fromReport() ?? Infinity;
}
function fromProc() {
    try {
        return parseDescriptorLimit(readFileSync("/proc/self/limits", "utf8"));
    }
    catch {
        return null; // not Linux
    }
}
/** Parses the soft limit of `Max open files` in `/proc/self/limits`; `null` if it is missing or unlimited. */
export function parseDescriptorLimit(text) {
    const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
    return soft === undefined ? null : Number(soft);
}
/** A diagnostic report takes some milliseconds: only for systems without /proc. */
function fromReport() {
    const report = process.report.getReport();
    const limits = field(field(report, "userLimits"), "open_files");
    const soft = field(limits, "soft");
    return typeof soft === "number" ? soft : null;
}
function field(value, key) {
    return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
//# sourceMappingURL=connection-budget.js.map