/** So many versions of its own a stream may have before it looks whether it can share those of all. */
const ownMax = 64;

/**
 * The versions of resources that were sent to one stream. Streams that have all that is published share it: hundreds of
 * streams with a thousand resources each have the same.
 */
export class SentVersions {
  #shared: ReadonlyMap<string, string> = new Map();
  /** What differs from it; `null`: not sent. */
  #own = new Map<string, string | null>();

  get(name: string): string | undefined {
    const own = this.#own.get(name);
    return own === undefined ? this.#shared.get(name) : (own ?? undefined);
  }

  set(name: string, version: string): void {
    if (this.#shared.get(name) === version) this.#own.delete(name);
    else this.#own.set(name, version);
  }

  /** A resource counts as not sent from now on. */
  delete(name: string): void {
    if (this.#shared.has(name)) this.#own.set(name, null);
    else this.#own.delete(name);
  }

  /** The names of all that were sent. */
  *names(): Iterable<string> {
    for (const name of this.#shared.keys()) if (!this.#own.has(name)) yield name;
    for (const [name, version] of this.#own) if (version !== null) yield name;
  }

  /**
   * Shares the versions of everything that is published, if all of it was sent.
   * @param published must not change
   */
  share(published: ReadonlyMap<string, string>): void {
    if (this.#own.size <= ownMax || published === this.#shared) return;
    for (const [name, version] of published) if (this.get(name) !== version) return;
    for (const name of this.#own.keys()) if (!published.has(name)) return;
    this.#shared = published;
    this.#own = new Map();
  }
}
