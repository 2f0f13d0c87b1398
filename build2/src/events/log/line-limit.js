/** Lets a bounded number of log lines of one kind through in each period, and counts the others. */
export class LineLimit {
    #max;
    #periodMs;
    #onOmitted;
    #timer = null;
    #lines = 0;
    #omitted = 0;
    /**
     * @param max lines in each period
     * @param onOmitted called at the end of a period in which lines were left out, with their number
     */
    constructor(max, periodMs, onOmitted) {
        this.#max = max;
        this.#periodMs = periodMs;
        this.#onOmitted = onOmitted;
    }
    /** Whether one more line may be written. @param count how many events the line stands for */
    take(count = 1) {
        this.#timer ??= setTimeout(() => this.end(), this.#periodMs).unref();
        this.#lines += 1;
        if (this.#lines <= this.#max)
            return true;
        this.#omitted += count;
        return false;
    }
    /** Ends the period now. */
    end() {
        if (this.#timer !== null)
            clearTimeout(this.#timer);
        const omitted = this.#omitted;
        this.#timer = null;
        this.#lines = 0;
        this.#omitted = 0;
        if (omitted > 0)
            this.#onOmitted(omitted, this.#periodMs);
    }
}
//# sourceMappingURL=line-limit.js.map