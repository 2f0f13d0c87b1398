/**
 * The cycles of a soak. Actions begin in the first part of a cycle. Its last part is calm: no action is at work, all
 * nodes are sound, and the configuration is the one of the start. Only figures of this part are compared: they then
 * differ by what is left over, not by what is going on.
 */
export interface Cycle {
  readonly lengthMs: number;
  /** In the first so many ms actions may begin. */
  readonly activeMs: number;
  /**
   * After so many ms it is calm. An action lasts for up to 40 s, and reloads may wait for each other. Then clients end
   * their connections, and the nodes settle.
   */
  readonly calmFromMs: number;
}

const calmCycle: Cycle = { lengthMs: 240_000, activeMs: 110_000, calmFromMs: 165_000 };

/** A shorter soak has fewer than twelve calm parts after its first quarter. A trend needs at least eight. */
const leastMinutes = 64;

/** The cycle of a soak. @returns `null` if the soak is too short for cycles: then actions begin at any time */
export function cycleOf(minutes: number): Cycle | null {
  return minutes >= leastMinutes ? calmCycle : null;
}

/** When an action begins, in ms since the start, if only active parts of cycles are counted until `activeMs`. */
export function beginOf(cycle: Cycle | null, activeMs: number): number {
  if (cycle === null) return activeMs;
  return Math.floor(activeMs / cycle.activeMs) * cycle.lengthMs + (activeMs % cycle.activeMs);
}

/** Whether it is calm at an instant, in ms since the start; without cycles every instant counts. */
export function isCalm(cycle: Cycle | null, sinceStartMs: number): boolean {
  return cycle === null || sinceStartMs % cycle.lengthMs >= cycle.calmFromMs;
}
