/** The limit to restore while stack traces are omitted; `null` while they are not. */
let limitOutside: number | null = null;

/**
 * Omits the stack traces of errors until the next tick. Undici calls its handlers within a callback of Node, such as
 * one with data of a socket. To be called at the end of such a handler: then only undici and Node run until that
 * callback returns.
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
