import { accusedOfLine, clockInstantOf, parseLine, readLineHead } from "./history-lines.js";
import { decodeOutcome } from "./outcome-codec.js";
/** How much evidence is kept in memory for one request, in characters of its lines. */
const lengthMax = 8 * 1024 * 1024;
/** Collects the evidence of one cluster and time from lines in their order. */
export class EvidenceScan {
    #query;
    #clusterField;
    #held = new Map();
    #accused = new Map();
    #found = [];
    #first = 0;
    #isComplete = true;
    #length = 0;
    /** What to add to instants of the lines, in ms. */
    #shiftMs = 0;
    constructor(query) {
        this.#query = query;
        this.#clusterField = `"c":${JSON.stringify(query.cluster)},`;
    }
    get result() {
        const recorded = this.#found.slice(this.#first).map((found) => found.recorded);
        return { recorded: [...this.#held.values(), ...recorded], accused: this.#accused, isComplete: this.#isComplete };
    }
    /** Reads one line. @returns `past` if it and all further lines of the file are too new; `damaged` if it has no use */
    add(text) {
        const line = readLineHead(text);
        if (line === null)
            return text === "" ? "read" : "damaged";
        if (line.atMs > this.#query.toWallMs)
            return "past";
        return this.#isWanted(line) && !this.#read(line) ? "damaged" : "read";
    }
    /** Whether a line must be parsed. Most need not, and parsing takes most of the time. */
    #isWanted({ atMs, kind, text }) {
        if (kind === "start")
            return true;
        if (!text.startsWith(this.#clusterField, text.indexOf('"c":')))
            return false;
        const isBefore = atMs < this.#query.fromWallMs;
        return kind === "outcome" ? !isBefore || text.includes('"kind":"drain"') : isBefore;
    }
    #read(line) {
        const body = parseLine(line);
        if (body === null)
            return false;
        if (line.kind === "start")
            return this.#restart(line, body["run"], clockInstantOf(body));
        if (line.kind === "accused")
            this.#accused = accusedOfLine(body);
        if (line.kind !== "outcome" && line.kind !== "held")
            return true;
        const { cluster, wallOffsetMs: sentOffsetMs, fromWallMs } = this.#query;
        const outcome = decodeOutcome(cluster, body["o"], { shiftMs: this.#shiftMs, sentOffsetMs });
        const m = clockInstantOf(body);
        if (outcome === null || m === null)
            return false;
        const recorded = { atMs: m + this.#shiftMs, atWallMs: line.atMs, outcome };
        if (line.atMs >= fromWallMs)
            this.#keep(recorded, line.text.length);
        else if (outcome.kind === "drain") {
            const isInForce = outcome.drain !== null && outcome.drain.untilMs > fromWallMs - sentOffsetMs;
            if (isInForce)
                this.#held.set(outcome.node, recorded);
            else
                this.#held.delete(outcome.node);
        }
        return true;
    }
    /** Another process, or another file: what held at its beginning follows. */
    #restart({ atMs }, run, instant) {
        if (instant === null)
            return false;
        const { wallOffsetMs, fromWallMs } = this.#query;
        this.#shiftMs = run === this.#query.run ? 0 : atMs - instant - wallOffsetMs;
        if (atMs >= fromWallMs)
            return true;
        this.#held.clear();
        this.#accused = new Map();
        return true;
    }
    /** Keeps a record. If there are too many, those farthest from the wanted instant are dropped, on either side. */
    #keep(recorded, length) {
        this.#found.push({ recorded, length });
        this.#length += length;
        while (this.#length > lengthMax)
            this.#dropFarthest();
        if (this.#first < 10_000)
            return;
        this.#found = this.#found.slice(this.#first);
        this.#first = 0;
    }
    #dropFarthest() {
        this.#isComplete = false;
        const [first, last] = [this.#found[this.#first], this.#found.at(-1)];
        if (first === undefined || last === undefined)
            return void (this.#length = 0);
        const distance = ({ recorded }) => Math.abs(recorded.atWallMs - this.#query.aroundWallMs);
        const isFirst = distance(first) >= distance(last);
        if (isFirst)
            this.#first += 1;
        else
            this.#found.pop();
        this.#length -= isFirst ? first.length : last.length;
    }
}
//# sourceMappingURL=evidence-scan.js.map