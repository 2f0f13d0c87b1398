import { createServer } from "node:net";
import type { ListenerConfig } from "../../config/model/config.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { isRunningRolecall } from "./running-rolecall.ts";

/**
 * Tries to bind every listener address. A port that a running rolecall uses is reported as information only (RC107).
 */
export async function checkListenerPorts({ command: { result }, config }: DoctorContext): Promise<void> {
  const fixed = config.listen.filter(({ port }) => port !== 0);
  const tried = await Promise.all(fixed.map(async (listener) => ({ listener, problem: await tryListening(listener) })));
  for (const { listener, problem } of tried) {
    if (problem === null) continue;
    const where = `${listener.address}:${listener.port}`;
    const isInUseByRolecall = problem === "EADDRINUSE" && (await isRunningRolecall(listener));
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
function tryListening({ address, port }: ListenerConfig): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
