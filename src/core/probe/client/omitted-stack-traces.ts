/** While stack traces are omitted: the limit to restore afterwards. Otherwise `null`. */
let limitOutside: number | null = null;

/**
 * Omits the stack traces of errors until the next tick. To be called at the end of a handler that undici calls. Undici
 * calls its handlers within a callback of Node, such as the one that delivers the data of a socket. The next tick comes
 * when that callback returns. Until then, the only code of rolecall that runs is in handlers, and undici catches
 * their exceptions. So no uncaught error of rolecall loses its stack trace.
 *
 * If a node closes its connection after every response, undici creates an error each time. Nobody reads that error. Its
 * stack trace took a tenth of the processor time of such a probe (bench/README.md).
 */
export function omitStackTraces(): void {
  if (limitOutside !== null) return;
  limitOutside = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  process.nextTick(restore);
}

/** Whether stack traces are omitted now. If so, an uncaught error that is thrown now is not of rolecall's code. */
export function areStackTracesOmitted(): boolean {
  return limitOutside !== null;
}

function restore(): void {
  if (limitOutside !== null) Error.stackTraceLimit = limitOutside;
  limitOutside = null;
}
