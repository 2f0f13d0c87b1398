import type { CancelTimer } from "../../cluster/timer.ts";

/** Sets a timer with the `setTimeout` of Node.js, which keeps the process running. */
export function setSystemTimer(callback: () => void, delayMs: number): CancelTimer {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
