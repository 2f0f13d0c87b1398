import { RuntimeApiError } from "./runtime-session.ts";

/** The commands of the Runtime API whose answers {@link parseHaproxyProcess} reads. */
export const haproxyProcessCommands: readonly string[] = ["show cli level", "show info"];

/** The HAProxy process that answers on the socket. */
export interface HaproxyProcess {
  /** Changes with each reload and restart. */
  readonly id: string;
  readonly version: string;
  /** The access level of the socket: `admin`, `operator` or `user`. */
  readonly level: string;
  /** Whether it is the old process after a reload, which only waits for its sessions to end. */
  readonly isStopping: boolean;
}

/**
 * Reads the answers to {@link haproxyProcessCommands}, in their order.
 * @throws RuntimeApiError if they are not answers of HAProxy
 */
export function parseHaproxyProcess([level = "", info = ""]: readonly string[]): HaproxyProcess {
  const field = (name: string): string | undefined => new RegExp(`^${name}: *(.*)$`, "m").exec(info)?.[1];
  const pid = field("Pid");
  if (pid === undefined || !/^\w{1,20}$/.test(level))
    throw new RuntimeApiError("unexpected answers: the socket must be HAProxy's Runtime API");
  return {
    id: `${pid} ${field("Start_time_sec") ?? ""}`,
    version: field("Version") ?? "unknown",
    level,
    isStopping: field("Stopping") === "1",
  };
}
