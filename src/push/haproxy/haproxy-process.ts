import { RuntimeApiError } from "./runtime-session.ts";

/** The commands whose answers `parseProcess` reads. */
export const processCommands: readonly string[] = ["show cli level", "show info"];

/** The process of HAProxy that answers. */
export interface HaproxyProcess {
  /** Changes with each reload and restart. */
  readonly id: string;
  readonly version: string;
  /** What the socket may do: `admin`, `operator` or `user`. */
  readonly level: string;
  /** Whether it is an old process that only ends its sessions. */
  readonly isStopping: boolean;
}

/**
 * Reads the answers to `processCommands`.
 * @throws RuntimeApiError if they are not those of HAProxy
 */
export function parseProcess([level = "", info = ""]: readonly string[]): HaproxyProcess {
  const field = (name: string): string | undefined => new RegExp(`^${name}: *(.*)$`, "m").exec(info)?.[1];
  const pid = field("Pid");
  if (pid === undefined || !/^\w{1,20}$/.test(level))
    throw new RuntimeApiError("the answers are not those of HAProxy's Runtime API");
  return {
    id: `${pid} ${field("Start_time_sec") ?? ""}`,
    version: field("Version") ?? "unknown",
    level,
    isStopping: field("Stopping") === "1",
  };
}
