/**
 * Runs `work` with a signal that is aborted after `ms` milliseconds, or as soon as one of the signals `earlier` is.
 * Removes its timer and listeners when `work` is done.
 *
 * This does not use `AbortSignal.any` with `AbortSignal.timeout`: on Node 20 the inner timeout may be garbage collected
 * (nodejs/node#54614), and a request to a server that never answers would then never end.
 */
export async function withDeadline<T>(
  ms: number,
  earlier: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  const deadline = new AbortController();
  const expire = (): void => deadline.abort();
  const timer = setTimeout(expire, ms);
  for (const signal of earlier) {
    if (signal.aborted) expire();
    else signal.addEventListener("abort", expire, { once: true });
  }
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of earlier) signal.removeEventListener("abort", expire);
  }
}
