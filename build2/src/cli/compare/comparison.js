/** The maximum number of lead times kept for one check of one node; the first ones are kept. */
const leadsMax = 1_000;
/** Counts agreements and differences between nodes and rolecall, and which side followed a change first. */
export class Comparison {
    #graceMs;
    #pairs = new Map();
    /** @param graceMs how long the sides may differ while a change propagates; longer differences are lasting */
    constructor(graceMs) {
        this.#graceMs = graceMs;
    }
    /** One entry per node and check, sorted by name. */
    get rows() {
        return [...this.#pairs].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, { counts }]) => counts);
    }
    /** Continues the counts of earlier runs. What the sides agreed on then may have changed since. */
    resume(rows) {
        for (const counts of rows)
            this.#pairs.set(`${counts.node} ${counts.check}`, { counts, agreed: null, changed: null });
    }
    /** Adds one sample: the answers of both sides at the same time. */
    add(sample, node, rolecall) {
        const { atMs } = sample;
        const pair = this.#pair(sample.node, sample.check);
        const { counts } = pair;
        counts.samples += 1;
        if (node.fit === rolecall.fit) {
            counts.agreements += 1;
            recordAgreement(pair, node.fit, atMs);
            return;
        }
        const key = `node ${node.answer}, rolecall ${rolecall.answer}`;
        counts.differences.set(key, (counts.differences.get(key) ?? 0) + 1);
        pair.changed ??= { by: pair.agreed === node.fit ? "rolecall" : "node", atMs };
        if (atMs - pair.changed.atMs < this.#graceMs)
            return;
        const known = counts.lasting.get(key);
        if (known === undefined)
            counts.lasting.set(key, { isRolecallFit: rolecall.fit, count: 1 });
        else
            known.count += 1;
    }
    #pair(node, check) {
        const key = `${node} ${check}`;
        let pair = this.#pairs.get(key);
        if (pair === undefined) {
            const counts = {
                node,
                check,
                samples: 0,
                agreements: 0,
                differences: new Map(),
                lasting: new Map(),
                leads: { rolecall: [], node: [], together: 0 },
                blips: { rolecall: 0, node: 0 },
            };
            this.#pairs.set(key, (pair = { counts, agreed: null, changed: null }));
        }
        return pair;
    }
}
/** Both sides agree again: the side that had changed was first, or it has reverted its change. */
function recordAgreement(pair, fit, atMs) {
    const { counts, changed } = pair;
    const isChange = pair.agreed !== null && pair.agreed !== fit;
    if (changed === null && isChange)
        counts.leads.together += 1;
    if (changed !== null && isChange && counts.leads[changed.by].length < leadsMax)
        counts.leads[changed.by].push(atMs - changed.atMs);
    if (changed !== null && pair.agreed === fit)
        counts.blips[changed.by] += 1;
    pair.agreed = fit;
    pair.changed = null;
}
//# sourceMappingURL=comparison.js.map