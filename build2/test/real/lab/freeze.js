/**
 * Freezing: a process that lives, keeps its sockets and answers nothing. The fault that a refused connection does not
 * show.
 */
import { childrenOf } from "./processes.js";
import { signal } from "./reaper.js";
/** SIGSTOP; what it returns thaws the process again, and may be called after its end. */
export function freeze(pid) {
    if (!signal(pid, "SIGSTOP"))
        throw new Error(`Cannot freeze process ${pid}: there is none`);
    return () => {
        signal(pid, "SIGCONT");
    };
}
/** Freezes a PostgreSQL, every backend, and what runs beside it: the machine hangs. What it returns thaws them all. */
export function freezeMachine(postmaster, ...beside) {
    const backends = childrenOf(postmaster).map(({ pid }) => pid);
    const pids = [...beside, postmaster, ...backends].filter((pid) => signal(pid, "SIGSTOP"));
    return () => {
        for (const pid of pids)
            signal(pid, "SIGCONT");
    };
}
/**
 * Freezes the one backend of a PostgreSQL whose title says `role`: "walreceiver" stops what arrives, "startup" what is
 * replayed.
 * @throws Error listing the backends when none does
 */
export function freezeBackend(postmaster, role) {
    const backends = childrenOf(postmaster);
    const backend = backends.find(({ title }) => title.includes(role));
    if (backend !== undefined)
        return freeze(backend.pid);
    throw new Error(`Cannot freeze a backend as its title must say ${role}: ${backends.map(({ title }) => title).join("; ") || "no backends"}`);
}
//# sourceMappingURL=freeze.js.map