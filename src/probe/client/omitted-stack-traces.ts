/** The limit outside a callback of undici that omits stack traces; `null` outside such a callback. */
let limitOutside: number | null = null;

/**
 * Makes errors that are created in the rest of this callback of undici have no stack trace. To be called at its end:
 * after it, only undici and Node run until the callback returns.
 *
 * Undici ends a connection that the node closes with an error, after every response of such a node, and nobody reads
 * that error. Its stack trace took a tenth of the processor time of probing (bench/README.md).
 */
export function omitStackTraces(): void {
  if (limitOutside !== null) return;
  limitOutside = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  process.nextTick(restore);
}

/** Whether stack traces are omitted now: no function of rolecall is on the stack of an error that is thrown now. */
export function areStackTracesOmitted(): boolean {
  return limitOutside !== null;
}

function restore(): void {
  if (limitOutside !== null) Error.stackTraceLimit = limitOutside;
  limitOutside = null;
}
