/**
 * What happens to an exception that nothing caught. Listeners, the fast path and the gateway catch what the functions
 * that they call throw, so none is expected.
 *
 * An exception ends the functions on its stack and no others. So the process may continue if each function of rolecall
 * on the stack serves one connection (`connectionFiles`): then no write to shared state (snapshot, probes, drains,
 * configuration) was cut short. The connection itself is left to its time limits. Every other exception ends the
 * process, as its state can no longer be trusted: its supervisor, or the main process for a worker, starts another one.
 */
/** Files that serve one connection and write no shared state. */
const connectionFiles = /^(http|gateway)\/|^workers\/relay-/;
/** The folder of rolecall's files, as stacks name it. */
const ownFolder = new URL("..", import.meta.url).href;
/** How many frames a stack keeps. A frame that is cut off could be one that writes shared state. */
const stackDepth = 50;
/** More exceptions than this within a minute end the process. */
const perMinuteMax = 60;
const minuteMs = 60_000;
const events = ["uncaughtException", "unhandledRejection"];
/**
 * Whether an exception can have affected no more than one connection: each function of rolecall on its stack serves
 * one. A stack without any function of rolecall is an error inside Node, such as of a socket: it cut no code of ours.
 * @param depth how many frames stacks keep: a stack of that many may be cut off
 */
export function isOfOneConnection(error, depth = stackDepth) {
    if (!(error instanceof Error) || typeof error.stack !== "string")
        return false;
    const frames = error.stack.split("\n").filter((line) => /^\s+at /.test(line));
    if (frames.length === 0 || frames.length >= depth)
        return false;
    return frames.every((frame) => {
        const at = frame.indexOf(ownFolder);
        return at < 0 || connectionFiles.test(frame.slice(at + ownFolder.length));
    });
}
/**
 * Runs before the present handlers of uncaught exceptions and rejections. They get only what must end the process.
 * @param onContained called with each exception that was contained
 * @returns a function that restores the handlers
 */
export function installLastResort(onContained) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = stackDepth;
    let minuteStartMs = -Infinity;
    let count = 0;
    const contains = (error) => {
        const nowMs = performance.now();
        if (nowMs - minuteStartMs > minuteMs)
            [minuteStartMs, count] = [nowMs, 0];
        count += 1;
        if (count > perMinuteMax || !isOfOneConnection(error))
            return false;
        onContained(error);
        return true;
    };
    const restore = events.map((event) => {
        const before = process.rawListeners(event);
        const handle = (error, ...rest) => {
            if (!contains(error))
                for (const listener of before)
                    Reflect.apply(listener, process, [error, ...rest]);
        };
        process.removeAllListeners(event);
        process.on(event, handle);
        return () => {
            process.removeListener(event, handle);
            for (const listener of before)
                process.on(event, (...args) => void Reflect.apply(listener, process, args));
        };
    });
    return () => {
        Error.stackTraceLimit = stackTraceLimit;
        for (const undo of restore)
            undo();
    };
}
//# sourceMappingURL=last-resort.js.map