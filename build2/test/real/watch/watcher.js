/** Sends the same checks to every node and to rolecall repeatedly, and records the answers. */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../fake/until.js";
/** A pause between rounds: short beside our probe interval (1 s), long enough to leave the machine to the databases. */
const pauseMs = 120;
/** Longer than our own probes wait (2.5 s): a node that is silent for us here was silent for them too. */
const nodeDeadlineMs = 2600;
export class Watcher {
    #rows;
    #loops;
    #rolecall;
    #watching = true;
    constructor({ nodes, rolecall, routes }) {
        this.#rolecall = rolecall;
        this.#rows = nodes.flatMap((node) => routes.map((route) => ({ node, route, theirs: [], ours: [] })));
        this.#loops = nodes.flatMap((node) => [
            this.#repeat(() => this.#askNode(node)),
            this.#repeat(() => this.#askUs(node)),
        ]);
    }
    /** Waits (10 s) until every question has a first answer: without one, no later answer would be a change. */
    async begun() {
        const every = () => this.#rows.every(({ theirs, ours }) => theirs.length > 0 && ours.length > 0);
        await until({ what: "first answer to every watched question", seconds: 10 }, () => Promise.resolve(every() || undefined));
    }
    /**
     * Waits (15 s) until every question was sent once more to every node and to rolecall: the last change of a scenario
     * may lie between a node's latest watched answer and the end of the watch.
     */
    async caughtUp() {
        const fromMs = performance.now();
        const isLater = (samples) => (samples.at(-1)?.sentAtMs ?? -1) >= fromMs;
        await until({ what: "one more answer to every watched question", seconds: 15 }, () => Promise.resolve(this.#rows.every(({ theirs, ours }) => isLater(theirs) && isLater(ours)) || undefined));
    }
    /** The status of the node's newest watched answer to a route; `undefined` before the first. */
    latest(node, route) {
        return this.#rows.find((row) => row.node === node && row.route === route)?.theirs.at(-1)?.status;
    }
    /** Ends the watch, after the questions that are on their way. */
    async stop() {
        this.#watching = false;
        await Promise.all(this.#loops);
        return this.#rows.map(timelineOf);
    }
    /** What was recorded about a node until now. */
    timelines(node) {
        return this.#of(node).map(timelineOf);
    }
    async #repeat(round) {
        while (this.#watching) {
            await round();
            await sleep(pauseMs);
        }
    }
    /**
     * One question after the other: a node has few workers. One that is silent on a route is silent on the rest of the
     * round.
     */
    async #askNode(node) {
        let silence;
        for (const { theirs, route } of this.#of(node)) {
            const sample = silence ?? sampleOf(await node.ask(route, { deadlineMs: nodeDeadlineMs }));
            if (sample.status === 0)
                silence = sample;
            theirs.push(sample);
        }
    }
    async #askUs(node) {
        for (const { ours, route } of this.#of(node))
            ours.push(sampleOf(await this.#rolecall.ask(node.name, route)));
    }
    #of(node) {
        return this.#rows.filter((row) => row.node === node);
    }
}
function timelineOf({ node, route, theirs, ours }) {
    return { node: node.name, route, theirs, ours };
}
function sampleOf({ sentAtMs, repliedAtMs, status }) {
    return { sentAtMs, repliedAtMs, status };
}
//# sourceMappingURL=watcher.js.map