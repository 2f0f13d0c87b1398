import { createServer } from "node:net";
import { withDeadline } from "../client/deadline.js";
/**
 * Tries to bind every listener address. A port that a running rolecall uses is reported as information only (RC107).
 */
export async function checkListenerPorts({ command: { result }, config }) {
    const fixed = config.listen.filter(({ port }) => port !== 0);
    const tried = await Promise.all(fixed.map(async (listener) => ({ listener, problem: await tryListening(listener) })));
    for (const { listener, problem } of tried) {
        if (problem === null)
            continue;
        const where = `${listener.address}:${listener.port}`;
        const isInUseByRolecall = problem === "EADDRINUSE" && (await isRolecall(listener));
        if (isInUseByRolecall)
            result.diagnose("RC107", { message: `${where} is in use by a running rolecall`, severity: "info" });
        else
            result.diagnose("RC107", {
                message: `Cannot listen on ${where}: ${problem}`,
                action: "Stop the process that uses the address, or choose another port.",
            });
    }
    const free = tried.filter(({ problem }) => problem === null).length;
    result.cover("listeners", "complete", { detail: `${free} of ${fixed.length} addresses are free` });
}
/** @returns the system's error code, or `null` if listening works */
function tryListening({ address, port }) {
    return new Promise((resolve) => {
        const server = createServer();
        server.once("error", (error) => resolve(error.code ?? error.message));
        server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(null)));
    });
}
async function isRolecall({ address, port }) {
    const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "[::1]" : address.includes(":") ? `[${address}]` : address;
    try {
        return await withDeadline(2_000, [], async (signal) => {
            const response = await fetch(`http://${host}:${port}/livez`, { signal });
            return (await response.text()).includes('"status":"ok"');
        });
    }
    catch {
        return false;
    }
}
//# sourceMappingURL=listeners.js.map