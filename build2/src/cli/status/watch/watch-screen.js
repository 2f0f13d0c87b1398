import { pause, tryFetchStatus } from "./refresh.js";
import { WatchSession } from "./session.js";
import { openFullScreen } from "./terminal.js";
/** Data is shown as old if no response came for this time beyond the interval, in ms. */
const lateMs = 3_000;
/**
 * Shows the table on the whole screen until the user ends it, or the command's signal is aborted.
 * @param intervalMs the time between two requests, in ms
 * @returns the last status; `null` if none was received
 * @throws CommandError (RC001) if the command line is wrong, such as an unknown cluster
 */
export async function watchScreen(context, intervalMs) {
    const { signal } = context;
    const session = new WatchSession(context, intervalMs + lateMs);
    const terminal = openFullScreen(context.io, signal, {
        onKey: (key) => session.press(key),
        onResize: () => session.changed(),
    });
    const end = () => session.end();
    signal.addEventListener("abort", end, { once: true });
    const failure = fetchRepeatedly(context, session, intervalMs).then(() => null, (error) => {
        session.end();
        return { error };
    });
    try {
        while (!session.ended.aborted) {
            await terminal.show(session.draw());
            await session.nextChange();
        }
    }
    finally {
        terminal.close();
        session.end();
        signal.removeEventListener("abort", end);
    }
    const failed = await failure;
    if (failed !== null)
        throw failed.error;
    return session.last;
}
async function fetchRepeatedly(context, session, intervalMs) {
    const fetching = { ...context, signal: session.ended };
    while (!session.ended.aborted) {
        if (!session.isPaused)
            session.receive(await tryFetchStatus(fetching));
        await pause(intervalMs, [session.ended]);
    }
}
//# sourceMappingURL=watch-screen.js.map