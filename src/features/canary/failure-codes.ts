/** The most codes that metrics tell apart: a server can answer any. */
const codesMax = 64;

/** The codes of failures, as a label of metrics. */
export class FailureCodes {
  readonly #known = new Set<string>();

  /** @returns the code, or `other` once there are too many */
  labelOf(code: string): string {
    if (!this.#known.has(code) && this.#known.size >= codesMax) return "other";
    this.#known.add(code);
    return code;
  }
}
