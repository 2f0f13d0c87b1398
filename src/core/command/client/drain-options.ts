import { drainMsMax } from "../../cluster/drain.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";

/** How long a drain is to last, in ms. @throws CommandError (RC001) if --for is no duration, or longer than a drain may be */
export function drainTimeMs(args: CommandContext["args"]): number {
  const duration = args.text("for");
  const durationMs = duration === null ? undefined : parseDuration(duration);
  if (durationMs !== undefined && durationMs >= 1 && durationMs <= drainMsMax) return durationMs;
  const given = duration === null ? "nothing" : JSON.stringify(duration);
  throw new CommandError("RC001", `--for must be a duration of at most 30d, such as 30m or 2h, got ${given}`);
}

/** Who drains: as the option says it, or the user of the shell. */
export function operatorName(by: string | null, env: CommandContext["io"]["env"]): string | null {
  return by ?? env["SUDO_USER"] ?? env["USER"] ?? env["LOGNAME"] ?? null;
}
