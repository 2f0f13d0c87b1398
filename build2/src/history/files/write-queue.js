/** A clock that was set back by more than this begins a new file, in ms: within a file times only increase. */
const stepMinMs = 1_000;
/** Lines of one stream that are not written yet. Bounded: if nothing can be written, further lines are dropped. */
export class WriteQueue {
    #bytesMax;
    #waiting = [];
    #bytes = 0;
    #dropped = 0;
    #lastAtMs = -Infinity;
    /** @param bytesMax how much may wait, in characters */
    constructor(bytesMax) {
        this.#bytesMax = bytesMax;
    }
    /** How many lines were dropped so far. */
    get dropped() {
        return this.#dropped;
    }
    get isEmpty() {
        return this.#waiting.length === 0;
    }
    /**
     * Adds a line without its line break.
     * @param atMs the time that it begins with, in ms since the epoch
     * @returns whether there was room for it
     */
    push(line, atMs) {
        if (this.#bytes + line.length > this.#bytesMax) {
            this.#dropped += 1;
            return false;
        }
        const startsFile = atMs < this.#lastAtMs - stepMinMs;
        this.#lastAtMs = atMs;
        this.#bytes += line.length + 1;
        this.#waiting.push({ line, startsFile, atMs });
        return true;
    }
    /** The time of the next line, in ms since the epoch; `null` if none waits. */
    get firstAtMs() {
        return this.#waiting[0]?.atMs ?? null;
    }
    /** Whether the next line must begin a new file. */
    get startsFile() {
        return this.#waiting[0]?.startsFile === true;
    }
    /** The lines for the present file, at most `bytesMax` characters or one line. They stay until `written` is called. */
    peek(bytesMax) {
        const lines = [];
        let bytes = 0;
        for (const { line, startsFile } of this.#waiting) {
            if (lines.length > 0 && (startsFile || bytes + line.length > bytesMax))
                break;
            lines.push(line);
            bytes += line.length + 1;
        }
        return lines;
    }
    /** Removes lines at the front: they are on disk. */
    written(count) {
        for (const { line } of this.#waiting.splice(0, count))
            this.#bytes -= line.length + 1;
    }
}
//# sourceMappingURL=write-queue.js.map