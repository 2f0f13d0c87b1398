import type { WeightConfig } from "../../config/model/config.ts";
import { LagWeight } from "./lag-weight.ts";
import { WarmUp } from "./warm-up.ts";
import type { WeightInput } from "./weight-input.ts";

/** The shortest time between two changes of a server's weight, in ms. */
const changeIntervalMs = 1_000;

/**
 * The weight of one server, in percent: the lower of what its lag and its warm-up allow. It changes at most once a
 * second. Uses no clock: the time is an argument.
 */
export class ServerWeight {
  readonly #lag: LagWeight;
  readonly #warmUp: WarmUp;
  #percent: number | null = null;
  #changedAtMs = -Infinity;

  constructor(config: WeightConfig) {
    this.#lag = new LagWeight(config);
    this.#warmUp = new WarmUp(config);
  }

  /** The weight that {@link update} returned last; 100 before the first. */
  get last(): number {
    return this.#percent ?? 100;
  }

  /**
   * Takes what is known now. Call it with every new report of the node, or at least once a second.
   * @returns the weight, a whole number from the floor to 100
   */
  update(input: WeightInput): number {
    const wanted = Math.min(this.#lag.update(input), this.#warmUp.update(input));
    const current = this.#percent ?? wanted;
    const mayChange = this.#percent === null || input.nowMs - this.#changedAtMs >= changeIntervalMs;
    if (!mayChange || wanted === this.#percent) return current;
    this.#percent = wanted;
    this.#changedAtMs = input.nowMs;
    return wanted;
  }

  /** Applies another configuration. What was observed is kept. */
  configure(config: WeightConfig): void {
    this.#lag.configure(config);
    this.#warmUp.configure(config);
  }
}
