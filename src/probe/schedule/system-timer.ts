import type { CancelTimer } from "../../cluster/timer.ts";

/** Sets a timer with Node's `setTimeout`, which keeps the process running. */
export function setSystemTimer(callback: () => void, delayMs: number): CancelTimer {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
