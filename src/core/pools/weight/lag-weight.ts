import type { WeightConfig } from "../../config/model/config.ts";
import type { WeightInput } from "./weight-input.ts";

/** The weight changes only by at least this many points, or to one of its ends. */
const bandPoints = 10;
/** How long the lag must allow a higher weight before the weight rises, in ms. */
const raiseAfterMs = 3_000;

/** The part of a weight configuration that the lag's share depends on. */
export type LagWeightConfig = Pick<WeightConfig, "fullMs" | "noneMs" | "floor">;

/**
 * Returns the weight that a lag allows: 100 up to `fullMs`, the floor from `noneMs` on, linear between them.
 * @param lagMs in ms
 * @returns a whole number of percent
 */
export function percentForLag(lagMs: number, { fullMs, noneMs, floor }: LagWeightConfig): number {
  const share = (noneMs - lagMs) / (noneMs - fullMs);
  return Math.round(floor + (100 - floor) * Math.min(1, Math.max(0, share)));
}

/**
 * The weight that a server's lag allows, without flapping: it falls at once, and rises only to what the lag has allowed
 * for some seconds. Changes smaller than a band are left out. While the lag is unknown, it counts as grown by the time
 * since it was known.
 */
export class LagWeight {
  #config: LagWeightConfig;
  #percent: number | null = null;
  #known: { readonly lagMs: number; readonly atMs: number } | null = null;
  /** Since when the lag has allowed a higher weight, and the lowest of those weights. */
  #higher: { readonly sinceMs: number; readonly lowest: number } | null = null;

  constructor(config: LagWeightConfig) {
    this.#config = config;
  }

  /** Takes the lag of an instant. @returns the weight in percent */
  update({ nowMs, lagMs }: Pick<WeightInput, "nowMs" | "lagMs">): number {
    if (lagMs !== null) this.#known = { lagMs, atMs: nowMs };
    const lag = this.#known === null ? Infinity : this.#known.lagMs + Math.max(0, nowMs - this.#known.atMs);
    const allowed = percentForLag(lag, this.#config);
    const percent = this.#percent ?? allowed;
    this.#percent = percent;
    if (this.#isStep(percent, allowed)) {
      if (allowed < percent) this.#set(allowed);
      else this.#raise(allowed, nowMs);
    } else this.#higher = null;
    return this.#percent;
  }

  /** Applies another configuration. */
  configure(config: LagWeightConfig): void {
    this.#config = config;
  }

  #raise(allowed: number, nowMs: number): void {
    const { sinceMs, lowest } = this.#higher ?? { sinceMs: nowMs, lowest: allowed };
    this.#higher = { sinceMs, lowest: Math.min(lowest, allowed) };
    if (nowMs - sinceMs >= raiseAfterMs) this.#set(this.#higher.lowest);
  }

  #set(percent: number): void {
    this.#percent = percent;
    this.#higher = null;
  }

  #isStep(from: number, to: number): boolean {
    if (from === to) return false;
    return Math.abs(to - from) >= bandPoints || to === 100 || to === this.#config.floor;
  }
}
