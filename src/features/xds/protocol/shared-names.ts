/** How many different sets are kept: those of a few kinds of clients. */
const setsMax = 8;
/** A smaller set costs less than the comparison. */
const leastNames = 16;

/**
 * The sets of names that streams subscribe to. Hundreds of clients with the same configuration subscribe to the same
 * thousand names, so a set that was used lately is used again.
 */
export class SharedNames {
  /** Those used last come first. */
  #sets: readonly ReadonlySet<string>[] = [];

  /** @returns a set with the same names, which nobody may change */
  of(names: ReadonlySet<string>): ReadonlySet<string> {
    if (names.size < leastNames) return names;
    const known = this.#sets.find((set) => isSame(set, names)) ?? names;
    if (known !== this.#sets[0]) this.#sets = [known, ...this.#sets.filter((set) => set !== known)].slice(0, setsMax);
    return known;
  }
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  for (const name of other) if (!one.has(name)) return false;
  return true;
}
