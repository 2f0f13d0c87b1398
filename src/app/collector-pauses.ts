import { PerformanceObserver } from "node:perf_hooks";

/**
 * Watches the pauses that V8's garbage collector makes in this process.
 * @param onPause called with the length of each, in ms
 * @returns ends that
 */
export function observePauses(onPause: (durationMs: number) => void): () => void {
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) onPause(duration);
  });
  observer.observe({ entryTypes: ["gc"] });
  return () => observer.disconnect();
}
