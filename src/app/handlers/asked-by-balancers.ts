import type { LagLimit } from "../../cluster/lag-limit.ts";
import { askedChecks, type AskedCheck } from "../../health/documents/asked-checks.ts";

/** How old the known checks of a cluster may be, in ms: the counts of workers come by messages. */
const validMs = 5_000;

interface Known {
  readonly atMs: number;
  readonly asked: readonly AskedCheck[];
}

/** The checks with a limit for lag that balancers ask, by cluster, without waiting: as they were some seconds ago. */
export class AskedByBalancers {
  readonly #limits: (cluster: string) => Promise<readonly LagLimit[]>;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();

  /**
   * @param limits the limits that the lag of a cluster's nodes is compared with
   * @param now milliseconds of a monotonic clock
   */
  constructor(limits: (cluster: string) => Promise<readonly LagLimit[]>, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** The checks of a cluster as they are known. Reads them again if that is due. */
  readonly of = (cluster: string): readonly AskedCheck[] => {
    const known = this.#known.get(cluster);
    const nowMs = this.#now();
    if (known === undefined || nowMs - known.atMs >= validMs) {
      this.#known.set(cluster, { atMs: nowMs, asked: known?.asked ?? [] });
      void this.#read(cluster);
    }
    return known?.asked ?? [];
  };

  /** Forgets all other clusters: those that a reload removed. */
  retain(clusters: readonly string[]): void {
    for (const name of this.#known.keys()) if (!clusters.includes(name)) this.#known.delete(name);
  }

  async #read(cluster: string): Promise<void> {
    try {
      const asked = askedChecks(await this.#limits(cluster));
      if (this.#known.has(cluster)) this.#known.set(cluster, { atMs: this.#now(), asked });
    } catch {
      // A worker that does not report in time: what was known stays, and is read again.
    }
  }
}
