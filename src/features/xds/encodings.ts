import type { PublishedPool } from "./pool-assignments.ts";

/** One encoding for each version of a pool and each of its zones, whatever number of streams send it. */
export class Encodings {
  readonly #encode: (pool: PublishedPool, zone: string | null) => Uint8Array;
  readonly #known = new WeakMap<PublishedPool, Map<string | null, Uint8Array>>();

  /** @param encode for the clients of a zone of the pool; `null`: for all others */
  constructor(encode: (pool: PublishedPool, zone: string | null) => Uint8Array) {
    this.#encode = encode;
  }

  /** The encoding for a client that runs in this zone; empty: it states none. */
  of(pool: PublishedPool, clientZone: string): Uint8Array {
    const zone = pool.assignment.zones.includes(clientZone) ? clientZone : null;
    const known = this.#known.get(pool) ?? new Map<string | null, Uint8Array>();
    this.#known.set(pool, known);
    const encoded = known.get(zone) ?? this.#encode(pool, zone);
    known.set(zone, encoded);
    return encoded;
  }
}
