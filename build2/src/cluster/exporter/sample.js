/** The samples of a page by metric name. */
export class Samples {
    #byName = new Map();
    size;
    constructor(samples) {
        this.size = samples.length;
        for (const sample of samples) {
            const known = this.#byName.get(sample.name);
            if (known === undefined)
                this.#byName.set(sample.name, [sample]);
            else
                known.push(sample);
        }
    }
    /** Returns the samples of the first of the names that has any. */
    all(...names) {
        for (const name of names) {
            const samples = this.#byName.get(name);
            if (samples !== undefined)
                return samples;
        }
        return [];
    }
    /**
     * Returns the value of the first of the names that has any; `null` if its samples differ: the page covers several
     * databases.
     */
    value(...names) {
        const [first, ...others] = this.all(...names);
        return first === undefined || others.some(({ value }) => value !== first.value) ? null : first.value;
    }
}
//# sourceMappingURL=sample.js.map