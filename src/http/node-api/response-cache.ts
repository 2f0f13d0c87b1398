import { LRUCache } from "lru-cache";

/** An answer as bytes, and for how long it may be given. */
export interface CachedResponse {
  readonly bytes: Buffer;
  readonly keepsConnection: boolean;
  /** The cluster, and the facts of it that the answer came from: it dies with them. */
  readonly cluster: string;
  readonly revision: number;
  /** The instant from which age alone may make it untrue, in ms of our clock. */
  readonly validUntilMs: number;
  /** Counts it as given. */
  readonly count: () => void;
}

/** What rendered answers are held against, and made by. */
export interface ResponseCacheContext {
  /** Names the cluster's facts in force; `undefined` for a cluster that is not tended. */
  readonly revision: (cluster: string) => number | undefined;
  /** Our clock, in ms. */
  readonly now: () => number;
  /** Renders the answer to a chunk that is one simple request; `null` where it is not, or its answer does not come from a cluster's part alone. */
  readonly render: (text: string) => CachedResponse | null;
}

/** How many characters of requests and answers are kept for all targets together: some thousand of them. */
const keptMax = 8_000_000;
/** What one rendered answer takes beside its request, about. */
const renderedSize = 1_500;
/** How many requests that came once are remembered, as 32-bit hashes. */
const onceMax = 4_096;

/**
 * The answers that are asked for again and again, by the very bytes of the request: listener, method, version, target, Host and
 * headers are all in them, and equal bytes mean an equal question. A request is kept from its second coming on, so a
 * scanner that never asks the same twice neither fills the memory nor drives out what is hot.
 */
export class ResponseCache {
  readonly #sources: ResponseCacheContext;
  readonly #kept = new LRUCache<string, CachedResponse>({
    maxSize: keptMax,
    sizeCalculation: (_, text) => text.length + renderedSize,
  });
  readonly #once = new Set<number>();

  constructor(sources: ResponseCacheContext) {
    this.#sources = sources;
  }

  /** How many requests are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * The answer to a chunk: one look-up and one comparison where it is hot.
   * @returns `null` for what has to go the ordinary way
   */
  find(text: string): CachedResponse | null {
    const known = this.#kept.get(text);
    if (
      known !== undefined &&
      known.revision === this.#sources.revision(known.cluster) &&
      this.#sources.now() < known.validUntilMs
    ) {
      known.count();
      return known;
    }
    const rendered = this.#sources.render(text);
    if (rendered === null) return null;
    rendered.count();
    if (known !== undefined || this.#isSecond(text)) this.#kept.set(text, rendered);
    return rendered;
  }

  #isSecond(text: string): boolean {
    const hash = hashOf(text);
    if (this.#once.delete(hash)) return true;
    if (this.#once.size >= onceMax) this.#once.clear();
    this.#once.add(hash);
    return false;
  }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
