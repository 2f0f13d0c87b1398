/** The most attempts kept of one event: more than twenty pools make in two minutes. */
const attemptsMax = 400_000;
/** Heartbeats kept: the last minute and more. */
const beatsMax = 4_000;
/** Collects what all clients and pollers see, and knows the state of the event that runs. */
export class Recorder {
    #attempts = [];
    #cuts = [];
    #yesAt = new Map();
    #beats = [];
    #from;
    #startedAt = 0;
    #promoted;
    #dropped = 0;
    /** Begins to record an event in which this leader is replaced. */
    begin(from) {
        this.#attempts = [];
        this.#cuts = [];
        this.#yesAt = new Map();
        this.#promoted = undefined;
        this.#startedAt = performance.now();
        this.#from = from;
    }
    /** Ends the event. @throws Error if no node was promoted, or more happened than can be kept */
    end(number, kind) {
        const [from, promoted] = [this.#from, this.#promoted];
        this.#from = undefined;
        if (from === undefined || promoted === undefined)
            throw new Error(`Cannot record event ${number}: no promotion`);
        if (this.#dropped > 0)
            throw new Error(`Cannot record event ${number}: ${this.#dropped} attempts too many`);
        const yes = [...this.#yesAt].filter(([key]) => key.endsWith(` ${promoted.node}`));
        return {
            number,
            kind,
            startedAt: this.#startedAt,
            endedAt: performance.now(),
            from,
            to: promoted.node,
            promotedAt: promoted.at,
            yesAt: Object.fromEntries(yes.map(([key, at]) => [key.slice(0, key.lastIndexOf(" ")), at])),
            attempts: this.#attempts,
            cuts: this.#cuts,
        };
    }
    /** Gives up the event. */
    abandon() {
        this.#from = undefined;
    }
    get isRecording() {
        return this.#from !== undefined;
    }
    /** The node that was promoted in the event that runs. */
    get promoted() {
        return this.isRecording ? this.#promoted?.node : undefined;
    }
    attempt(attempt) {
        if (!this.isRecording)
            return;
        if (this.#attempts.length < attemptsMax)
            this.#attempts.push(attempt);
        else
            this.#dropped += 1;
    }
    cut(cut) {
        if (this.isRecording && this.#cuts.length < attemptsMax)
            this.#cuts.push(cut);
    }
    /** An instance of rolecall says that this node is the primary. Only its first time counts. */
    yes(edge, node, at) {
        const key = `${edge} ${node}`;
        if (this.isRecording && node !== this.#from && !this.#yesAt.has(key))
            this.#yesAt.set(key, at);
    }
    /** A node says that it is not in recovery. Only the first one beside the old leader counts. */
    writable(node, at) {
        if (this.isRecording && node !== this.#from)
            this.#promoted ??= { node, at };
    }
    /** A heartbeat, which was sent at `at`, is committed. */
    beat(at, committedAt) {
        this.#beats.push({ at, committedAt });
        if (this.#beats.length > beatsMax)
            this.#beats.splice(0, beatsMax / 2);
    }
    /** How much older the heartbeat of a read is than the newest one that was committed before it started. */
    behind(beatRead, startedAt) {
        const newest = this.#beats.findLast(({ committedAt }) => committedAt < startedAt);
        return newest === undefined ? 0 : Math.max(0, newest.at - beatRead);
    }
    /** Whether these pools have written on the promoted node. */
    haveWritten(pools) {
        const written = new Set(this.#attempts
            .filter(({ kind, node }) => kind === "write" && node === this.#promoted?.node)
            .map(({ pool }) => pool));
        return pools.every((pool) => written.has(pool));
    }
}
//# sourceMappingURL=recorder.js.map