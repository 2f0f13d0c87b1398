/**
 * Collects items from files that are read from the newest to the oldest, each from its beginning to its end. Reading
 * can end early: the items after that place are complete then.
 */
export class BackwardList {
    #limit;
    #found = [];
    #ofFile = [];
    /** @param limit how many items are kept: the newest */
    constructor(limit) {
        this.#limit = limit;
    }
    /** The newest items, oldest first. */
    get newest() {
        return this.#found.slice(-this.#limit);
    }
    /** Adds the next item of the present file. */
    add(item) {
        this.#ofFile.push(item);
        if (this.#ofFile.length >= 2 * this.#limit)
            this.#ofFile.splice(0, this.#ofFile.length - this.#limit);
    }
    /**
     * Ends the present file.
     * @param isWhole whether it was read to its end; if not, its items count only if there are no newer ones
     * @returns whether older files add nothing, because there are enough items
     */
    endFile(isWhole) {
        if (isWhole || this.#found.length === 0)
            this.#found = [...this.#ofFile, ...this.#found];
        this.#ofFile = [];
        return this.#found.length >= this.#limit;
    }
}
//# sourceMappingURL=backward-list.js.map