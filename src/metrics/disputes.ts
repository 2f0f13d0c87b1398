import type { ClusterPart } from "../cluster/snapshot.ts";
import { isDisputed, standingAt } from "../health/leader.ts";
import type { Settings } from "../health/settings.ts";

/** Two claims on one lock, or a claim that the cluster does not confirm: worth one line, however long it lasts. */
export interface Dispute {
  readonly cluster: string;
  readonly claims: readonly string[];
  /** Who counts as the holder meanwhile, or `null`. */
  readonly holder: string | null;
}

/** An episode is over when nothing was disputed for this long, in ms; what flickers within is one episode. */
const quietMs = 10_000;

/** Finds the beginning of each episode in which it is open who leads. */
export class Disputes {
  readonly #lastMs = new Map<string, number>();

  /** To be told of every new part. @returns the dispute when a new episode begins, else `null` */
  take(part: ClusterPart, { settings, nowMs }: { readonly settings: Settings; readonly nowMs: number }): Dispute | null {
    const stands = part.claims.length === 1 && part.holder !== null;
    if (part.claims.length === 0 || stands || !isDisputed(part, settings, nowMs)) return null;
    const isNew = nowMs - (this.#lastMs.get(part.name) ?? -Infinity) > quietMs;
    this.#lastMs.set(part.name, nowMs);
    if (!isNew) return null;
    const { holder, claims } = standingAt(part, settings, nowMs);
    return { cluster: part.name, claims: claims.map(({ node }) => node.name), holder };
  }
}
