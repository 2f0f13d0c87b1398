/**
 * What happens to an exception that nobody caught. Listeners, fast path and gateway contain what they call, so none is expected here.
 *
 * An exception cuts short the functions on its stack and no others. So the process may go on exactly where every function of ours on the stack
 * serves one connection (`connectionFiles`): no write to what connections share (snapshot, probes, drains, configuration) was under way. The
 * connection itself is left to its time limits. Everything else ends the process, as what it knows can no longer be trusted:
 * its supervisor, or for a worker the main process, starts another one.
 */

/** The files of ours that serve one connection and write nothing that others read. */
const connectionFiles = /^(http|gateway)\/|^workers\/relay-/;
/** The folder of our own files, as stacks name it. */
const ownFolder = new URL("..", import.meta.url).href;
/** Stacks are kept so deep, in frames: one that is cut off could hide a function. */
const stackDepth = 50;
/** So many within a minute are no accident of one connection. */
const mostPerMinute = 60;
const minuteMs = 60_000;

/** The events of a process that nobody caught what was thrown. */
const events = ["uncaughtException", "unhandledRejection"] as const;

/**
 * Whether an exception can have touched no more than one connection: each function of ours on its stack serves one.
 * @param depth how many frames stacks are kept with: one as deep is not known to its end
 */
export function isOfOneConnection(error: unknown, depth: number = stackDepth): boolean {
  if (!(error instanceof Error) || typeof error.stack !== "string") return false;
  const frames = error.stack.split("\n").filter((line) => /^\s+at /.test(line));
  if (frames.length === 0 || frames.length >= depth) return false;
  return frames.every((frame) => {
    const at = frame.indexOf(ownFolder);
    return at < 0 || connectionFiles.test(frame.slice(at + ownFolder.length));
  });
}

/**
 * Puts itself before the process's own handlers of what nobody caught, which see only what may not be contained.
 * @param onContained reports what was contained
 * @returns takes it away again
 */
export function installLastResort(onContained: (error: unknown) => void): () => void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = stackDepth;
  let minuteBeganMs = -Infinity;
  let count = 0;
  const contains = (error: unknown): boolean => {
    const nowMs = performance.now();
    if (nowMs - minuteBeganMs > minuteMs) [minuteBeganMs, count] = [nowMs, 0];
    count += 1;
    if (count > mostPerMinute || !isOfOneConnection(error)) return false;
    onContained(error);
    return true;
  };
  const restore = events.map((event) => {
    const before = process.rawListeners(event);
    const judge = (error: unknown, ...rest: unknown[]): void => {
      if (!contains(error)) for (const listener of before) Reflect.apply(listener, process, [error, ...rest]);
    };
    process.removeAllListeners(event);
    process.on(event, judge);
    return (): void => {
      process.removeListener(event, judge);
      for (const listener of before)
        process.on(event, (...told: unknown[]) => void Reflect.apply(listener, process, told));
    };
  });
  return () => {
    Error.stackTraceLimit = stackTraceLimit;
    for (const undo of restore) undo();
  };
}
