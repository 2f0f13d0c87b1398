import { containedFeatures } from "./registry/contained.ts";
import { areStackTracesOmitted } from "../core/probe/client/omitted-stack-traces.ts";
import { ownModuleOf } from "../core/program/own-frames.ts";

/**
 * What happens to an exception that nothing caught. Listeners, the fast path, the gateway, the probes and the recording
 * of outcomes catch what the functions that they call throw, so none is expected.
 *
 * An exception interrupts only the functions on its stack. If each function of rolecall on the stack serves one
 * connection, one node, one DCS or one balancer, or is pure ({@link containedModules}), no write to shared state (snapshot,
 * drains, configuration) is incomplete: the process continues. The time limits of a connection end it, and the next
 * probe follows. After every other exception the state can no longer be trusted, so the process ends: its supervisor,
 * or the main process for a worker, starts another one.
 */

/** Modules that write no shared state, by what their paths begin with. */
export const containedModules: readonly string[] = [
  ...containedFeatures.map((feature) => `features/${feature}/`),
  "core/balancing/",
  "core/cluster/",
  "core/etcd/",
  "core/exposition/",
  "core/feature/scope",
  "core/health/",
  "core/http/",
  "core/probe/",
  "core/program/",
  "core/workers/relay-",
];
/** How many frames a stack keeps. A frame that is cut off could be one that writes shared state. */
const stackDepth = 50;
/** More exceptions than this within a minute end the process. */
const perMinuteMax = 60;
const minuteMs = 60_000;

const events = ["uncaughtException", "unhandledRejection"] as const;

/**
 * Whether an exception can have affected no more than one connection, node, DCS or balancer: no function of rolecall on
 * its stack writes what all share. A stack without any function of rolecall belongs to an error inside Node, such as of
 * a socket: it interrupted no code of rolecall. So does an error that is thrown while stack traces are omitted.
 * @param depth how many frames stacks keep: a stack of that many may be cut off
 */
export function hasWrittenNothingShared(error: unknown, depth: number = stackDepth): boolean {
  if (areStackTracesOmitted()) return true;
  if (!(error instanceof Error) || typeof error.stack !== "string") return false;
  const frames = error.stack.split("\n").filter((line) => /^\s+at /.test(line));
  if (frames.length === 0 || frames.length >= depth) return false;
  return frames.every((frame) => {
    const module = ownModuleOf(frame);
    return module === null || containedModules.some((beginning) => module.startsWith(beginning));
  });
}

/**
 * Replaces the present handlers of uncaught exceptions and rejections. The new handler contains an exception that
 * cannot have interrupted a write of shared state, and passes every other one to the previous handlers, which end the
 * process.
 * @param onContained called with each exception that was contained
 * @returns a function that restores the handlers
 */
export function containUncaughtExceptions(onContained: (error: unknown) => void): () => void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = stackDepth;
  let minuteStartMs = -Infinity;
  let count = 0;
  const contains = (error: unknown): boolean => {
    const nowMs = performance.now();
    if (nowMs - minuteStartMs > minuteMs) [minuteStartMs, count] = [nowMs, 0];
    count += 1;
    if (count > perMinuteMax || !hasWrittenNothingShared(error)) return false;
    onContained(error);
    return true;
  };
  const restore = events.map((event) => {
    const before = process.rawListeners(event);
    const handle = (error: unknown, ...rest: unknown[]): void => {
      if (!contains(error)) for (const listener of before) Reflect.apply(listener, process, [error, ...rest]);
    };
    process.removeAllListeners(event);
    process.on(event, handle);
    return (): void => {
      process.removeListener(event, handle);
      for (const listener of before)
        process.on(event, (...args: unknown[]) => void Reflect.apply(listener, process, args));
    };
  });
  return () => {
    Error.stackTraceLimit = stackTraceLimit;
    for (const undo of restore) undo();
  };
}
