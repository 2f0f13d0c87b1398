/** The most changes that a track keeps; further ones are dropped. */
const changesMax = 10_000;
/** Samples of one thing over time. Keeps only the changes, and between which two samples each happened. */
export class Track {
    #segments = [];
    #lastAtMs = null;
    get segments() {
        return this.#segments;
    }
    /** Adds a sample. @param atMs when it arrived */
    add(atMs, value) {
        if (this.#segments.at(-1)?.value !== value && this.#segments.length < changesMax)
            this.#segments.push({ value, fromMs: atMs, afterMs: this.#lastAtMs });
        this.#lastAtMs = atMs;
    }
}
/** The first change to a value that satisfies the condition, at or after an instant; `null` if there is none. */
export function firstChange(segments, sinceMs, isWanted) {
    return segments.find(({ fromMs, value }) => fromMs >= sinceMs && isWanted(value)) ?? null;
}
//# sourceMappingURL=track.js.map