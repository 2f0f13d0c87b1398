/** Which losses are played with which values. Pure. */

/** What differs between the labs of the losses. */
export interface LossSetup {
  readonly patroni: "3.0.2" | "4.1";
  readonly ttl: 10 | 30;
  /** The versions of the PgBouncers. */
  readonly poolers: readonly string[];
  readonly clients: 12 | 200;
}

/**
 * Every pair of values of two keys is in at least two of these (the orthogonal array L8). Two or three PgBouncers: 1.18
 * is reached over its Unix socket.
 */
export const lossSetups: readonly LossSetup[] = [
  { patroni: "3.0.2", ttl: 10, poolers: ["1.24", "1.18"], clients: 12 },
  { patroni: "3.0.2", ttl: 10, poolers: ["1.24", "1.18", "1.26"], clients: 200 },
  { patroni: "3.0.2", ttl: 30, poolers: ["1.24", "1.18"], clients: 200 },
  { patroni: "3.0.2", ttl: 30, poolers: ["1.24", "1.18", "1.26"], clients: 12 },
  { patroni: "4.1", ttl: 10, poolers: ["1.24", "1.18"], clients: 200 },
  { patroni: "4.1", ttl: 10, poolers: ["1.24", "1.18", "1.26"], clients: 12 },
  { patroni: "4.1", ttl: 30, poolers: ["1.24", "1.18"], clients: 12 },
  { patroni: "4.1", ttl: 30, poolers: ["1.24", "1.18", "1.26"], clients: 200 },
];

/**
 * The losses of each setup: each kind once, and some twice, so that each kind is played `each` times in all.
 * @param kinds the names of the kinds of losses
 * @param each a whole number from 1
 */
export function lossPlan<Kind>(
  kinds: readonly Kind[],
  each: number,
): readonly { readonly setup: LossSetup; readonly kinds: readonly Kind[] }[] {
  const count = lossSetups.length;
  return lossSetups.map((setup, at) => ({
    setup,
    // The extra losses go round, so that no setup has all of them.
    kinds: kinds.flatMap((kind, of) => {
      const extra = (at + count - (of % count)) % count < each % count ? 1 : 0;
      return Array.from({ length: Math.floor(each / count) + extra }, () => kind);
    }),
  }));
}

export function setupName({ patroni, ttl, poolers, clients }: LossSetup): string {
  return `Patroni ${patroni}, ttl ${ttl}, PgBouncer ${poolers.join(" + ")}, ${clients} clients`;
}
