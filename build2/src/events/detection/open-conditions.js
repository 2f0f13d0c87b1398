import { conditionKey, endOf, isAttachmentMark, isBeginning } from "./condition.js";
import { conditionsOf, conflictQuietMs, isEndKnown } from "./conditions.js";
/**
 * How long a mark on a replica that an earlier process reported is taken to last, in ms: it is found anew only after
 * `attach_window`. Everything else is known once each node was probed.
 */
const resumedMarkMs = 30_000;
/** The conditions of one cluster that last. Turns what is present now into beginnings and ends. */
export class OpenConditions {
    #open = new Map();
    #pending = new Map();
    /** Compares with the facts of a later instant. @returns beginnings, then ends */
    update(facts) {
        const events = [];
        const present = new Set();
        for (const condition of conditionsOf(facts)) {
            const key = conditionKey(condition.begins);
            if (key === null)
                continue;
            present.add(key);
            if (this.#isBegun(key, condition, facts.nowMs))
                events.push(condition.begins);
        }
        for (const key of this.#pending.keys())
            if (!present.has(key))
                this.#pending.delete(key);
        return [...events, ...this.#ended(present, facts)];
    }
    /**
     * Takes over what an earlier process reported last: it is not reported again, and ends with an event.
     * @param sinceMs when the event happened, in ms of rolecall's clock
     * @param nowMs the present instant, in ms of rolecall's clock
     */
    resume(event, sinceMs, nowMs) {
        const key = conditionKey(event);
        if (key === null)
            return;
        if (isBeginning(event)) {
            const since = this.#open.get(key)?.sinceMs ?? sinceMs;
            const quietMs = event.kind === "claims_conflict" ? conflictQuietMs : 0;
            const endsFromMs = isAttachmentMark(event) ? nowMs + resumedMarkMs : nowMs;
            const rest = { quietMs, seenMs: nowMs, absentSinceMs: null, endsFromMs };
            this.#open.set(key, { begins: event, level: null, sinceMs: since, ...rest });
        }
        else
            this.#open.delete(key);
    }
    #isBegun(key, { begins, level, holdMs = 0, quietMs = 0 }, nowMs) {
        const known = this.#open.get(key);
        const isKnown = known !== undefined && (known.level === level || isResumed(known, begins));
        if (isKnown) {
            this.#pending.delete(key);
            this.#keep(key, { begins, level, sinceMs: known.sinceMs, quietMs }, nowMs);
            return false;
        }
        const pending = this.#pending.get(key);
        const sinceMs = pending?.level === level ? pending.sinceMs : nowMs;
        if (known !== undefined)
            this.#open.set(key, { ...known, seenMs: nowMs, absentSinceMs: null });
        if (nowMs - sinceMs < holdMs) {
            this.#pending.set(key, { level, sinceMs });
            return false;
        }
        this.#pending.delete(key);
        this.#keep(key, { begins, level, sinceMs: known?.sinceMs ?? sinceMs, quietMs }, nowMs);
        return true;
    }
    /** Keeps a condition that is present. */
    #keep(key, condition, nowMs) {
        this.#open.set(key, { ...condition, seenMs: nowMs, absentSinceMs: null, endsFromMs: nowMs });
    }
    #ended(present, facts) {
        const events = [];
        const nodes = new Set(facts.nodes.map(({ node }) => node));
        for (const [key, condition] of this.#open) {
            const { begins, sinceMs, level, quietMs, seenMs } = condition;
            const { node } = begins;
            if (present.has(key) || !isEndKnown(begins, facts))
                continue;
            const absentSinceMs = condition.absentSinceMs ?? facts.nowMs;
            if (this.#isEndEarly(condition, facts.nowMs)) {
                this.#open.set(key, { ...condition, absentSinceMs });
                continue;
            }
            this.#open.delete(key);
            // Nothing ends at a node that has left.
            if (node !== null && !nodes.has(node))
                continue;
            // What an earlier process saw lasted until this one found it absent.
            const overMs = quietMs > 0 && level !== null ? seenMs : absentSinceMs;
            const end = endOf(begins, overMs - sinceMs);
            if (end !== null)
                events.push(end);
        }
        return events;
    }
    /** Whether a condition that is absent may be present again soon, as the same one. */
    #isEndEarly({ begins, level, quietMs, seenMs, endsFromMs }, nowMs) {
        if (nowMs - seenMs < quietMs || nowMs < endsFromMs)
            return true;
        // A cluster may be degraded because of a mark that is found anew later.
        const isResumedDegraded = begins.kind === "degraded" && level === null;
        return isResumedDegraded && [...this.#open.values()].some((open) => open.level === null && isMark(open));
    }
}
function isMark({ begins }) {
    return isAttachmentMark(begins);
}
/** Whether an earlier process reported the same. */
function isResumed({ level, begins: known }, begins) {
    return level === null && known.kind === begins.kind;
}
//# sourceMappingURL=open-conditions.js.map