import type { WeightConfig } from "../../config/model/config.ts";
import type { WeightInput } from "./weight-input.ts";

/** Where the ramp begins, in percent: a cache warms up only with some traffic. */
const startPercent = 10;
/** The ramp rises in steps of this many points. */
const stepPoints = 5;

/** The part of a weight configuration that the warm-up depends on. */
export type WarmUpConfig = Pick<WeightConfig, "warmUpMs" | "floor">;

/**
 * The weight that a warm-up allows: it rises from 10% to 100% once the server is fit after a restart of PostgreSQL,
 * whose cache is cold then. Of a node that does not state when PostgreSQL started, it rises once the node is fit after
 * it was not for at least the time of a warm-up. Nothing warms up when rolecall starts.
 */
export class WarmUp {
  #config: WarmUpConfig;
  /** When PostgreSQL started, by the last report while the server was fit, or by the first report. */
  #warmStart: string | null = null;
  #unfitSinceMs: number | null = null;
  #isFirst = true;
  #sinceMs = -Infinity;

  constructor(config: WarmUpConfig) {
    this.#config = config;
  }

  /** Takes what is known of the server at an instant. @returns the weight in percent */
  update({ nowMs, isFit, startedAt }: Omit<WeightInput, "lagMs">): number {
    if (isFit) {
      if (!this.#isFirst && this.#isCold(startedAt, nowMs)) this.#sinceMs = nowMs;
      this.#warmStart = startedAt ?? this.#warmStart;
      this.#unfitSinceMs = null;
    } else {
      if (this.#isFirst) this.#warmStart = startedAt;
      this.#unfitSinceMs ??= nowMs;
    }
    this.#isFirst = false;
    return this.#percentAt(nowMs);
  }

  /** Applies another configuration. */
  configure(config: WarmUpConfig): void {
    this.#config = config;
  }

  #isCold(startedAt: string | null, nowMs: number): boolean {
    if (startedAt !== null && (this.#warmStart !== null || this.#unfitSinceMs !== null))
      return startedAt !== this.#warmStart;
    return this.#unfitSinceMs !== null && nowMs - this.#unfitSinceMs >= this.#config.warmUpMs;
  }

  #percentAt(nowMs: number): number {
    const { warmUpMs, floor } = this.#config;
    const share = (nowMs - this.#sinceMs) / warmUpMs;
    if (warmUpMs === 0 || share >= 1) return 100;
    const percent = startPercent + (100 - startPercent) * share;
    return Math.max(floor, Math.floor(percent / stepPoints) * stepPoints);
  }
}
