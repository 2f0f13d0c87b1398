/**
 * Runs `work` with a signal that is aborted after `ms` milliseconds, or as soon as one of `earlier` is. Nothing is left behind:
 * neither the timer nor a listener.
 *
 * Not `AbortSignal.any` over `AbortSignal.timeout`: on Node 20 nothing but the collector's mercy keeps the inner timeout alive
 * (nodejs/node#54614), and a question to a server that never answers would wait for ever.
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
