/** How long requests are kept. */
const keptMs = 100_000;
/** The responses to rolecall, per node: its only knowledge of a cluster. */
export class Evidence {
    #served = new Map();
    timeoutMs;
    slackMs;
    /** @param timeoutMs rolecall's own timeout, and what its clock and ours may differ by */
    constructor(timeoutMs, slackMs) {
        this.timeoutMs = timeoutMs;
        this.slackMs = slackMs;
    }
    /** Records a request. The caller updates the record while it sends the response. */
    note(served) {
        const list = this.#list(served.node, served.kind);
        list.push(served);
        while ((list[0]?.arrivedMs ?? Infinity) < served.arrivedMs - keptMs)
            list.shift();
    }
    /** All requests of a kind since an instant, oldest first. */
    since(node, kind, fromMs) {
        const list = this.#list(node, kind);
        let first = list.length;
        while (first > 0 && (list[first - 1]?.arrivedMs ?? -Infinity) >= fromMs)
            first -= 1;
        return list.slice(first);
    }
    /** The newest answer of a kind that had surely been read by an instant; undefined where there is none. */
    newestSure(node, kind, byMs) {
        return this.#list(node, kind).findLast((served) => this.isSure(served) && (served.doneMs ?? Infinity) <= byMs);
    }
    /** Whether an answer was readable and went out well within rolecall's timeout. */
    isSure(served) {
        const { doneMs, arrivedMs, document, isBroken, status } = served;
        if (doneMs === null || isBroken || document === null || (status !== 200 && status !== 503))
            return false;
        return doneMs - arrivedMs < this.timeoutMs - this.slackMs / 2;
    }
    /** Whether rolecall may have read an answer: it was readable and not surely too late. */
    isPossible({ doneMs, arrivedMs, document }) {
        return document !== null && doneMs !== null && doneMs - arrivedMs < this.timeoutMs + this.slackMs * 2;
    }
    /** Whether a node answered every request of a kind in time since an instant, and was sent some. */
    answeredAll(node, kind, fromMs, nowMs) {
        const list = this.since(node, kind, fromMs).filter(({ arrivedMs }) => arrivedMs < nowMs - this.timeoutMs);
        return list.length > 0 && list.every((served) => this.isSure(served));
    }
    #list(node, kind) {
        const key = `${node} ${kind}`;
        const found = this.#served.get(key);
        if (found !== undefined)
            return found;
        const list = [];
        this.#served.set(key, list);
        return list;
    }
}
/** The leader that a cluster document names; null: none; undefined: not a cluster document. */
export function namedLeader({ document }) {
    if (document === null || Array.isArray(document))
        return undefined;
    const members = document["members"];
    if (!Array.isArray(members) || members.length === 0)
        return undefined;
    const leader = members.find(({ role }) => role === "leader" || role === "standby_leader");
    return leader === undefined ? null : String(leader.name);
}
/** A status document's object, or null. */
export function documentOf(served) {
    return served === undefined || served.document === null || Array.isArray(served.document)
        ? null
        : served.document;
}
//# sourceMappingURL=evidence.js.map