import { readBackends } from "./apply-changes.js";
import { parseProcess, processCommands } from "./haproxy-process.js";
import { RuntimeSession } from "./runtime-session.js";
/**
 * Reads the state of an HAProxy, and changes nothing.
 * @param deadlineMs how long it may take, in ms
 * @throws RuntimeApiError if the Runtime API cannot be used
 */
export async function inspectHaproxy({ socket, backends }, deadlineMs) {
    const session = new RuntimeSession(socket, deadlineMs);
    try {
        session.open();
        const process = parseProcess(await session.run(processCommands));
        const names = backends.map(({ name }) => name);
        return { process, backends: await readBackends(session, names) };
    }
    finally {
        session.close();
    }
}
//# sourceMappingURL=inspect-haproxy.js.map