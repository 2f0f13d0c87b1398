/** How long a change may wait for others to be sent with it, in ms: each message has a fixed cost. */
const batchMs = 5;
/** Sends to the workers, in batches, the outcomes that changed the snapshot, not the snapshot itself. */
export class OutcomeFeed {
    #send;
    #lastReports = new Map();
    #pending = [];
    /** @param send called once for each batch */
    constructor(send) {
        this.#send = send;
    }
    /** Adds one change to the next batch. */
    add(outcome, nowMs, sequence) {
        if (this.#pending.length === 0)
            setTimeout(() => this.flush(), batchMs);
        this.#pending.push({ outcome: this.#compress(outcome), nowMs, sequence });
    }
    /** Sends the pending changes now. */
    flush() {
        if (this.#pending.length === 0)
            return;
        const changes = this.#pending;
        this.#pending = [];
        this.#send(changes);
    }
    /** Sends the pending changes, then forgets the last reports, so that each node's next report is sent in full: a new
     * reader does not know the earlier ones. */
    flushAndReset() {
        this.flush();
        this.#lastReports.clear();
    }
    #compress(outcome) {
        if (outcome.kind !== "status" || "failure" in outcome.result)
            return outcome;
        const { report, hasLock } = outcome.result;
        const key = keyOf(outcome);
        if (this.#lastReports.get(key) === report) {
            const { cluster, node, sentAtMs, sentAtWallMs } = outcome;
            return { kind: "same_status", cluster, node, sentAtMs, sentAtWallMs, hasLock };
        }
        this.#lastReports.set(key, report);
        return outcome;
    }
}
/** The receiving end of a feed: restores the outcomes. */
export class OutcomeReader {
    #lastReports = new Map();
    /** Forgets earlier reports: the feed was reset. */
    reset() {
        this.#lastReports.clear();
    }
    /**
     * @returns `undefined` if it refers to an earlier report that this reader does not have: feed and reader are out of
     * sync
     */
    read(sent) {
        if (sent.kind === "same_status") {
            const report = this.#lastReports.get(keyOf(sent));
            const { cluster, node, sentAtMs, sentAtWallMs, hasLock } = sent;
            return report === undefined
                ? undefined
                : { kind: "status", cluster, node, sentAtMs, sentAtWallMs, result: { report, hasLock } };
        }
        if (sent.kind === "status" && "report" in sent.result)
            this.#lastReports.set(keyOf(sent), sent.result.report);
        return sent;
    }
}
function keyOf({ cluster, node }) {
    return `${cluster}/${node}`;
}
//# sourceMappingURL=outcome-feed.js.map