import { LRUCache } from "lru-cache";
import { askPauseMs } from "../../cluster/asked-node.ts";
import type { Check } from "../../health/check.ts";

/** A limit for lag that checks of a cluster request. */
export interface RequestedLimit {
  readonly cluster: string;
  readonly route: string;
  /** In bytes and in ms; at least one is not `null`. */
  readonly lagBytesMax: number | null;
  readonly lagTimeMsMax: number | null;
  readonly keep: number;
  readonly fallbackPrimary: boolean;
  readonly zones: readonly string[];
  readonly companions: readonly string[];
  /** How long ago it was requested last, in ms. */
  readonly agoMs: number;
  /** How long it has been requested again and again, in ms; 0 for a limit that was requested once. */
  readonly forMs: number;
}

/** How many limits are known. Requests may state any, so beyond this the one requested longest ago is forgotten. */
const limitsMax = 4_096;
/** Repeated requests within this time are not recorded, in ms: checks come thousands of times a second. */
const repeatMs = 1_000;
/** A limit that nobody requested for so long is forgotten, in ms. */
const keptMs = 10 * 60_000;

interface Row extends Omit<RequestedLimit, "agoMs" | "forMs"> {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Which limits for lag the checks of balancers request, by cluster and route. Checks without a limit cost nothing. */
export class LimitCensus {
  readonly #rows: LRUCache<string, Row>;
  readonly #byCheck = new WeakMap<Check, Row>();
  readonly #now: () => number;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#rows = new LRUCache({ max: limitsMax, ttl: keptMs, ttlResolution: 0, perf: { now } });
  }

  /** Records the limits of a check. */
  note(cluster: string, check: Check): void {
    const { route, lagBytesMax, lagTimeMsMax, keep, fallbackPrimary, zones, companions, isForSessions } = check;
    // The limits in a check for open sessions do not matter to it.
    if (isForSessions || (lagBytesMax === null && lagTimeMsMax === null)) return;
    const nowMs = this.#now();
    const known = this.#byCheck.get(check);
    if (known?.cluster === cluster && nowMs - known.lastMs < repeatMs) return;
    const preferred = `${zones.join()} ${companions.join()}`;
    const key = `${cluster} ${route} ${lagBytesMax} ${lagTimeMsMax} ${keep} ${fallbackPrimary} ${preferred}`;
    const before = this.#rows.get(key);
    const firstMs = before !== undefined && nowMs - before.lastMs < askPauseMs ? before.firstMs : nowMs;
    const asked = { route, lagBytesMax, lagTimeMsMax, keep, fallbackPrimary, zones, companions };
    const row = { cluster, ...asked, firstMs, lastMs: nowMs };
    this.#byCheck.set(check, row);
    this.#rows.set(key, row);
  }

  /** The limits that were requested lately. */
  rows(): readonly RequestedLimit[] {
    const nowMs = this.#now();
    const rows = [...this.#rows.rvalues()].filter((row) => row !== undefined);
    return rows.map(({ firstMs, lastMs, ...limit }) => ({
      ...limit,
      agoMs: Math.round(nowMs - lastMs),
      forMs: Math.round(lastMs - firstMs),
    }));
  }
}
