import type { Check } from "../../health/check.ts";

/** A limit for lag that checks of a cluster request. */
export interface RequestedLimit {
  readonly cluster: string;
  readonly route: string;
  /** In bytes and in ms; at least one is not `null`. */
  readonly lagBytesMax: number | null;
  readonly lagTimeMsMax: number | null;
  /** How long ago it was requested last, in ms. */
  readonly agoMs: number;
}

/** How many limits are known. Requests may state any, so beyond this the one requested longest ago is forgotten. */
const limitsMax = 4_096;
/** Repeated requests within this time are not recorded, in ms: checks come thousands of times a second. */
const repeatMs = 1_000;
/** A limit that nobody requested for so long is forgotten, in ms. */
const keptMs = 10 * 60_000;

interface Cell extends Omit<RequestedLimit, "agoMs"> {
  lastMs: number;
}

/** Which limits for lag the checks of balancers request, by cluster and route. Checks without a limit cost nothing. */
export class LimitCensus {
  /** The limit requested longest ago comes first. */
  readonly #cells = new Map<string, Cell>();
  readonly #byCheck = new WeakMap<Check, Cell>();
  readonly #now: () => number;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records the limits of a check. */
  note(cluster: string, check: Check): void {
    const { route, lagBytesMax, lagTimeMsMax } = check;
    if (lagBytesMax === null && lagTimeMsMax === null) return;
    const nowMs = this.#now();
    const known = this.#byCheck.get(check);
    if (known?.cluster === cluster && nowMs - known.lastMs < repeatMs) return;
    const key = `${cluster} ${route} ${lagBytesMax} ${lagTimeMsMax}`;
    const cell = this.#cells.get(key) ?? { cluster, route, lagBytesMax, lagTimeMsMax, lastMs: nowMs };
    cell.lastMs = nowMs;
    this.#byCheck.set(check, cell);
    this.#cells.delete(key);
    this.#cells.set(key, cell);
    const [oldest] = this.#cells.keys();
    if (this.#cells.size > limitsMax && oldest !== undefined) this.#cells.delete(oldest);
  }

  /** The limits that were requested lately. */
  rows(): readonly RequestedLimit[] {
    const nowMs = this.#now();
    for (const [key, { lastMs }] of this.#cells) {
      if (nowMs - lastMs <= keptMs) break;
      this.#cells.delete(key);
    }
    return [...this.#cells.values()].map(({ lastMs, ...limit }) => ({ ...limit, agoMs: Math.round(nowMs - lastMs) }));
  }
}
