import { readFileSync } from "node:fs";

/** The clock that counts since the machine booted, which outlives a process. */
export interface BootClock {
  /** Which boot it counts from; `null` if unknown. */
  readonly id: string | null;
  /** Time since boot minus rolecall's clock, in ms. */
  readonly offsetMs: number;
}

/** Nothing can be compared with another run. */
export const noBootClock: BootClock = { id: null, offsetMs: 0 };

/** Where the present boot clock comes from. */
export interface BootSource {
  readonly clock: { readonly bootClock: (id: string | null) => BootClock };
  readonly bootId: () => string | null;
}

/** Returns Linux's identifier of the present boot; `null` on other systems. */
export function linuxBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}
