/** Processes as /proc shows them, to find the backends of a PostgreSQL server. */
import { readFileSync, readdirSync } from "node:fs";
/** The living children of a process. */
export function childrenOf(parent) {
    const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
    return pids
        .filter((pid) => parentOf(pid) === parent)
        .map((pid) => ({ pid, title: readOrEmpty(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }));
}
/** proc(5): the fourth field of `stat`; the second one, the name in brackets, may hold spaces and brackets itself. */
function parentOf(pid) {
    const [, parent] = /.*\) \S (\d+)/s.exec(readOrEmpty(`/proc/${pid}/stat`)) ?? [];
    return parent === undefined ? undefined : Number(parent);
}
function readOrEmpty(path) {
    try {
        return readFileSync(path, "utf8");
    }
    catch {
        return ""; // it ended meanwhile
    }
}
//# sourceMappingURL=processes.js.map