import { createRequire } from "node:module";

/** The clock of undici's own time limits, which its tests move. */
const { tick } = createRequire(import.meta.url)("undici/lib/util/timers.js") as { readonly tick: (ms: number) => void };

/** Lets time pass for undici's time limits alone, which are accurate to a second. */
export function passUndiciTime(ms: number): void {
  // A limit begins to count at the first tick after it was set.
  tick(0);
  tick(ms);
}
