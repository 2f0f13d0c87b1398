import type { HaproxyConfig } from "../../core/config/model/config.ts";
import { readBackends, type BackendStates } from "./apply-changes.ts";
import { parseHaproxyProcess, haproxyProcessCommands, type HaproxyProcess } from "./haproxy-process.ts";
import { RuntimeSession } from "./runtime-session.ts";

/** What the Runtime API of an HAProxy shows of its process, its backends and servers. */
export interface HaproxyInspection {
  readonly process: HaproxyProcess;
  readonly backends: BackendStates;
}

/**
 * Reads the state of an HAProxy, and changes nothing.
 * @param deadlineMs how long it may take, in ms
 * @throws RuntimeApiError if the Runtime API cannot be used
 */
export async function inspectHaproxy(
  { socket, backends }: HaproxyConfig,
  deadlineMs: number,
): Promise<HaproxyInspection> {
  const session = new RuntimeSession(socket, deadlineMs);
  try {
    session.open();
    const process = parseHaproxyProcess(await session.run(haproxyProcessCommands));
    const names = backends.map(({ name }) => name);
    return { process, backends: await readBackends(session, names) };
  } finally {
    session.close();
  }
}
