import type { DcsResult, DcsState } from "../../../core/cluster/dcs.ts";

/** Who is asked about the DCS now. */
export interface DcsAskers {
  /** The upstreams that feed the cluster now. */
  readonly feeding: readonly string[];
  /** Whether the nodes are probed here: then nobody watches the DCS. */
  readonly isProbed: boolean;
  readonly nowMs: number;
}

/** What the upstreams of a cluster say of its DCS. A follower does not watch it itself. */
export class FollowedDcs {
  /** Upstream -> whether the DCS answers it. */
  readonly #answers = new Map<string, boolean>();

  /** An upstream reads the DCS, or cannot. */
  state(upstream: string, isUp: boolean): void {
    this.#answers.set(upstream, isUp);
  }

  /** Forgets what all others have said. */
  keepOnly(upstreams: ReadonlySet<string>): void {
    for (const upstream of this.#answers.keys()) if (!upstreams.has(upstream)) this.#answers.delete(upstream);
  }

  /** Whether the DCS answers another upstream than this one. */
  isReadBesides(upstream: string): boolean {
    return [...this.#answers].some(([other, isUp]) => other !== upstream && isUp);
  }

  /**
   * What is to be recorded so that the DCS counts as read while one of those that are heard reads it, and only then:
   * upstreams send changes only. What was read last counts again.
   * @returns `null` if nothing is to be recorded
   */
  decide(
    dcs: DcsState | null,
    { feeding, isProbed, nowMs }: DcsAskers,
  ): { readonly sentAtMs: number; readonly result: DcsResult } | null {
    if (dcs === null) return null;
    const isRead = !isProbed && feeding.some((upstream) => this.#answers.get(upstream) === true);
    if (isRead && !dcs.isUp && dcs.read !== null) {
      const { sentAtMs, ...read } = dcs.read;
      return { sentAtMs, result: { read } };
    }
    // While nobody is heard, and the nodes are not probed yet, the last evidence counts.
    if (isRead || !dcs.isUp || (!isProbed && feeding.length === 0)) return null;
    const detail = isProbed ? "no instance that is followed answers" : "no instance that is followed reads it";
    return { sentAtMs: nowMs, result: { failure: { kind: "unreachable", detail } } };
  }
}
