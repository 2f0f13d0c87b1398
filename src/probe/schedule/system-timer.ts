import type { CancelTimer } from "../../cluster/timer.ts";

/** Sets a timer of Node. It keeps the process running. */
export function setSystemTimer(callback: () => void, delayMs: number): CancelTimer {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
