import type { ClusterStatus } from "../../../core/command/client/cluster-status.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { openStatusSource } from "../../../app/client/status-source.ts";
import { pause, tryFetchStatus } from "./refresh.ts";
import { WatchSession } from "./session.ts";
import { openFullScreen } from "./terminal.ts";

/** Data is shown as old if no response came for this time beyond the interval, in ms. */
const lateMs = 3_000;

/**
 * Shows the table on the whole screen until the user ends it, or the command's signal is aborted.
 * @param intervalMs the time between two requests, in ms
 * @returns the last status; `null` if none was received
 * @throws CommandError (RC001) if the command line is wrong, such as an unknown cluster
 */
export async function watchScreen(context: CommandContext, intervalMs: number): Promise<ClusterStatus | null> {
  const { signal } = context;
  const session = new WatchSession(context, intervalMs + lateMs);
  const terminal = openFullScreen(context.io, signal, {
    onKey: (key) => session.press(key),
    onResize: () => session.changed(),
  });
  const end = (): void => session.end();
  signal.addEventListener("abort", end, { once: true });
  const failure = fetchRepeatedly(context, session, intervalMs).then(
    () => null,
    (error: unknown) => {
      session.end();
      return { error };
    },
  );
  try {
    while (!session.ended.aborted) {
      await terminal.show(session.draw());
      await session.nextChange();
    }
  } finally {
    terminal.close();
    session.end();
    signal.removeEventListener("abort", end);
  }
  const failed = await failure;
  if (failed !== null) throw failed.error;
  return session.last;
}

async function fetchRepeatedly(context: CommandContext, session: WatchSession, intervalMs: number): Promise<void> {
  const fetching = { ...context, signal: session.ended };
  const source = openStatusSource(fetching);
  try {
    while (!session.ended.aborted) {
      if (!session.isPaused) session.receive(await tryFetchStatus(source, fetching));
      await pause(intervalMs, [session.ended]);
    }
  } finally {
    source.close();
  }
}
