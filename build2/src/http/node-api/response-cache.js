import { LRUCache } from "lru-cache";
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
export class ResponseCache {
    #context;
    #entries = new LRUCache({
        maxSize: sizeMax,
        sizeCalculation: (_, key) => key.length + responseSize,
    });
    #once = new Set();
    constructor(context) {
        this.#context = context;
    }
    /** The number of cached responses. */
    get size() {
        return this.#entries.size;
    }
    /**
     * Finds a valid response, or renders one, and counts it as sent. A hit costs one look-up and two comparisons.
     * @param source what `render` needs beside the key
     * @returns `null` if the response cannot be cached
     */
    find(key, source) {
        const known = this.#entries.get(key);
        if (known !== undefined &&
            known.revision === this.#context.revision(known.cluster) &&
            this.#context.now() < known.validUntilMs) {
            known.count();
            return known;
        }
        const rendered = this.#context.render(key, source);
        if (rendered === null)
            return null;
        rendered.count();
        if (known !== undefined || this.#isSecond(key))
            this.#entries.set(key, rendered);
        return rendered;
    }
    #isSecond(key) {
        const hash = hashOf(key);
        if (this.#once.delete(hash))
            return true;
        if (this.#once.size >= onceMax)
            this.#once.clear();
        this.#once.add(hash);
        return false;
    }
}
/** FNV-1a, 32 bits. */
function hashOf(text) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1)
        hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return hash;
}
//# sourceMappingURL=response-cache.js.map