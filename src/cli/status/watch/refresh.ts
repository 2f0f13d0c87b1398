import type { ClusterStatus } from "../../../core/command/client/cluster-status.ts";
import type { StatusSource } from "../../../app/client/status-source.ts";
import { withDeadline } from "../../../core/command/client/deadline.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { untilAborted } from "../../../core/command/framework/until-aborted.ts";

/** A status, or why there is none. */
export type StatusAttempt = ClusterStatus | { readonly problem: string };

/**
 * Fetches the status. A server that cannot be reached is a problem to show, because the next attempt may succeed.
 * @throws CommandError (RC001) if the command line is wrong, which no further attempt can mend
 */
export async function tryFetchStatus(source: StatusSource, context: CommandContext): Promise<StatusAttempt> {
  try {
    return await source.fetch(context);
  } catch (error) {
    if (error instanceof CommandError && error.rule !== "RC001") return { problem: error.message };
    throw error;
  }
}

/** Waits for `ms` milliseconds, or until one of the signals is aborted. */
export function pause(ms: number, until: readonly AbortSignal[]): Promise<void> {
  return withDeadline(ms, until, untilAborted);
}
