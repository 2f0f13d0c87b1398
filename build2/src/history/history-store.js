import { accusedOf } from "../events/accusation-history.js";
import { accusedLine, eventLine, outcomeLine, startLine, verdictLine } from "./history-lines.js";
import { HistoryReader } from "./history-reader.js";
import { HistoryWriter } from "./history-writer.js";
/** More files than a history has: those with damaged lines are logged once each. */
const filesMax = 1_000;
const nothing = { recorded: [], accused: new Map(), isComplete: true };
/**
 * The history on disk: events, verdict changes and evidence, so that they outlive a restart. Without a configured
 * directory every method does nothing, and no file is touched.
 */
export class HistoryStore {
    #context;
    #damaged = new Set();
    #config = null;
    #writer = null;
    #reader = null;
    #droppedBefore = 0;
    constructor(context) {
        this.#context = context;
    }
    /** What the metrics show; `null` if nothing is kept. */
    get usage() {
        if (this.#writer === null)
            return null;
        return { isWriting: this.#writer.isWriting, dropped: this.#droppedBefore + this.#writer.dropped };
    }
    /** Uses the directory of a configuration from now on. Does nothing if it is the same as before. */
    async configure(config) {
        if (isSame(config, this.#config))
            return;
        const previous = this.#writer;
        this.#config = config;
        this.#droppedBefore += previous?.dropped ?? 0;
        this.#writer = null;
        this.#reader =
            config === null ? null : new HistoryReader(config.directory, (path, lines) => this.#onDamaged(path, lines));
        await previous?.close();
        if (config === null || config !== this.#config)
            return;
        const { log, clock } = this.#context;
        this.#writer = new HistoryWriter(config, {
            log,
            wall: () => clock.wall(),
            evidenceHead: (atMs) => this.#head(atMs),
        });
    }
    addEvent(event) {
        this.#writer?.add("events", eventLine(event), event.at);
    }
    addChange({ cluster, node, before, after, failure }, atWallMs) {
        this.#writer?.add("events", verdictLine({ cluster, node, before, after, failure, atWallMs }), atWallMs);
    }
    addOutcome(outcome, atMs, atWallMs) {
        this.#writer?.add("evidence", outcomeLine(outcome, { atMs, atWallMs }, "outcome"), atWallMs);
    }
    addAccused(cluster, accused, atWallMs) {
        this.#writer?.add("evidence", accusedLine(cluster, accused, atWallMs), atWallMs);
    }
    /** The events and verdict changes at the end of the history, oldest first. */
    async readRecent() {
        return (await this.#reader?.readRecent()) ?? { events: [], changes: [] };
    }
    /** The newest events of a time. */
    async readEvents(query, context) {
        return (await this.#reader?.readEvents(query, context)) ?? { events: [], isComplete: true };
    }
    /** The evidence of a cluster between two wall-clock times. What is farthest from `aroundWallMs` is left out first. */
    async readEvidence(time, context) {
        const { clock, snapshot } = this.#context;
        const query = { ...time, run: snapshot().instance, wallOffsetMs: clock.wall() - clock.now() };
        return (await this.#reader?.readEvidence(query, context)) ?? nothing;
    }
    /** When the oldest evidence was recorded, in ms since the epoch; `null` if there is none. */
    async oldestEvidenceMs(context) {
        return (await this.#reader?.oldestEvidenceMs(context)) ?? null;
    }
    /** Writes what waits, for at most two seconds. */
    async stop() {
        await this.configure(null);
    }
    /** What holds at the beginning of an evidence file: the clock, the accusations and the drains. */
    #head(atWallMs) {
        const { clock, snapshot } = this.#context;
        const atMs = clock.now() + atWallMs - clock.wall();
        const { instance, clusters } = snapshot();
        return [
            startLine(atWallMs, instance, atMs),
            ...clusters.flatMap((cluster) => {
                const accused = accusedOf(cluster);
                const drains = [...cluster.drains].filter(([, { untilMs }]) => untilMs > atMs);
                return [
                    ...(accused.size === 0 ? [] : [accusedLine(cluster.name, accused, atWallMs)]),
                    ...drains.map(([node, drain]) => outcomeLine({ kind: "drain", cluster: cluster.name, node, drain }, { atMs, atWallMs }, "held")),
                ];
            }),
        ];
    }
    #onDamaged(file, lines) {
        if (this.#damaged.has(file) || this.#damaged.size >= filesMax)
            return;
        this.#damaged.add(file);
        this.#context.log.warn({ file, lines }, "damaged lines of a history file left out");
    }
}
function isSame(one, other) {
    return (one === other ||
        (one !== null &&
            other !== null &&
            one.directory === other.directory &&
            one.sizeMax === other.sizeMax &&
            one.ageMaxMs === other.ageMaxMs));
}
//# sourceMappingURL=history-store.js.map