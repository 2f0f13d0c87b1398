/** The capabilities of this machine for measurements. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
/** The path of an installed program, or `undefined`. */
export function find(program) {
    const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
    return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
/** Whether processes can be pinned to a core here. */
export function canPin() {
    return availableParallelism() >= 2 && find("taskset") !== undefined;
}
/** Whether a process may have real-time priority here (sched(7), SCHED_FIFO). */
export function mayRunFirst() {
    const chrt = find("chrt");
    return chrt !== undefined && spawnSync(chrt, ["--fifo", "1", "true"]).status === 0;
}
/** The command, pinned to its core if possible. */
export function pinned(core, command) {
    if (core === "any" || !canPin())
        return command;
    return ["taskset", "-c", core === "measured" ? "0" : "1", ...command];
}
/** How many files a process may open here. Node raises its soft limit to the hard one, which its children inherit. */
export function filesMax() {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0);
}
/** Pins a running process with all its threads to a core. New threads and children inherit that. */
export function pinTo(core, pid) {
    execFileSync(find("taskset") ?? "taskset", ["-a", "-c", "-p", `${core}`, `${pid}`], { stdio: "ignore" });
}
//# sourceMappingURL=machine.js.map