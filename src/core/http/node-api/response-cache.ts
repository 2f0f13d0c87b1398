import { LRUCache } from "lru-cache";
import type { Reply } from "../message/reply.ts";
import type { Request } from "../message/request.ts";

/** What a cached response depends on. */
export interface CacheEntry {
  /** The cluster, and its revision when the response was computed: another revision invalidates the response. */
  readonly cluster: string;
  readonly revision: number;
  /** When age alone may change the verdict, in ms of rolecall's clock. */
  readonly validUntilMs: number;
  /** Counts the response as sent. */
  readonly count: () => void;
}

/** A response as the bytes that the fast path sends. */
export interface CachedResponse extends CacheEntry {
  readonly bytes: Buffer;
  readonly keepsConnection: boolean;
  /** The request that it answers. */
  readonly request: Request;
}

/** A reply prepared for node:http. */
export interface CachedReply extends CacheEntry {
  readonly reply: Reply;
}

/** What responses are validated against, and how they are rendered. */
export interface ResponseCacheContext<Entry, Source> {
  /** The current revision of a cluster; `undefined` for an unknown one. */
  readonly revision: (cluster: string) => number | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /**
   * Renders the response for a key; `null` if the response depends on more than one cluster's state. `outdated` is the
   * last response for the same key, if it is known.
   */
  readonly render: (key: string, source: Source, outdated: Entry | undefined) => Entry | null;
}

/** The last response for a key. The next one replaces it without a change of the cache. */
interface Slot<Entry> {
  entry: Entry;
}

/** The size of the cache in characters: some thousand responses. */
const sizeMax = 8_000_000;
/** The approximate size of a response without its key, in characters. */
const responseSize = 1_500;
/** How many keys that were requested once are remembered, as 32-bit hashes. */
const onceMax = 4_096;

/**
 * Caches responses that are requested again and again. A response is cached from its second request on, so that a
 * scanner that never repeats a request neither fills the cache nor evicts what is used. The fast path's key is the
 * bytes of the request; the ordinary path's key is what of the request determines its routing.
 */
export class ResponseCache<Entry extends CacheEntry = CachedResponse, Source = void> {
  readonly #context: ResponseCacheContext<Entry, Source>;
  readonly #slots = new LRUCache<string, Slot<Entry>>({
    maxSize: sizeMax,
    sizeCalculation: (_, key) => key.length + responseSize,
  });
  readonly #once = new Set<number>();

  constructor(context: ResponseCacheContext<Entry, Source>) {
    this.#context = context;
  }

  /** The number of cached responses. */
  get size(): number {
    return this.#slots.size;
  }

  /**
   * Finds a valid response, or renders one, and counts it as sent. A hit costs one look-up and two comparisons.
   * @param source what `render` needs in addition to the key
   * @returns `null` if the response cannot be cached
   */
  find(key: string, source: Source): Entry | null {
    const slot = this.#slots.get(key);
    const known = slot?.entry;
    if (
      known !== undefined &&
      known.revision === this.#context.revision(known.cluster) &&
      this.#context.now() < known.validUntilMs
    ) {
      known.count();
      return known;
    }
    const rendered = this.#context.render(key, source, known);
    if (rendered === null) return null;
    rendered.count();
    if (slot !== undefined) slot.entry = rendered;
    else if (this.#isSecond(key)) this.#slots.set(key, { entry: rendered });
    return rendered;
  }

  #isSecond(key: string): boolean {
    const hash = hashOf(key);
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
