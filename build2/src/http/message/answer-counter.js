/** Counts answers by route and status. Both have few values, so it stays small; counting allocates nothing. */
export class AnswerCounter {
    #counts = new Map();
    count(route, status) {
        let statuses = this.#counts.get(route);
        if (statuses === undefined)
            this.#counts.set(route, (statuses = new Map()));
        const cell = statuses.get(status);
        if (cell === undefined)
            statuses.set(status, { count: 1 });
        else
            cell.count += 1;
    }
    /** Iterates over the counts. */
    *rows() {
        for (const [route, statuses] of this.#counts) {
            for (const [status, { count }] of statuses)
                yield { route, status, count };
        }
    }
}
//# sourceMappingURL=answer-counter.js.map