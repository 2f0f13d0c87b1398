/**
 * Where scenarios are played: a real cluster, rolecall beside it, and a watcher over both while the cluster is changed.
 */
import assert from "node:assert/strict";
import { until } from "../../fake/until.js";
import { account } from "./account.js";
import { differences } from "./agreement.js";
import { changes, isYes, overhangMs, together } from "./timeline.js";
import { Watcher } from "./watcher.js";
/** `probe.max_age`, left at its default. */
const maxAgeMs = 5500;
/** How long after a scenario a difference may last: a needless no of ours that stays is one, too. */
const settleSeconds = 15;
export class Stage {
    #options;
    #watcher = null;
    constructor(options) {
        this.#options = options;
    }
    /**
     * Watches while `act` changes the cluster and until it is whole and we agree with it again; prints how we followed.
     * @returns what `act` found
     * @throws AssertionError for a yes that lived too long, two primaries at once, no answer of ours, or a difference
     * that stayed
     */
    async during(name, act) {
        const { cluster, rolecall, title, watched } = this.#options;
        const watcher = new Watcher({ nodes: cluster.nodes, rolecall, routes: watched });
        this.#watcher = watcher;
        let timelines = [];
        const { found, left } = await this.#play(watcher, act).finally(async () => {
            timelines = await watcher.stop();
            console.log(account(`${title}, ${name}`, timelines));
        });
        judge(timelines);
        assert.deepEqual(left, [], `differences ${settleSeconds} s after`);
        return found;
    }
    /**
     * Waits (60 s) until the watcher has seen these changes of the node's own answers, such as "/primary no": they prove
     * that the scenario happened. A cluster can look whole before its nodes have noticed the fault.
     */
    async changed(node, ...what) {
        const watcher = this.#watcher;
        assert.ok(watcher !== null, "a scenario is being watched");
        const seen = () => watcher
            .timelines(node)
            .flatMap(changes)
            .map(({ route, to }) => `${route} ${to === 200 ? "yes" : "no"}`);
        const evidence = () => `Changes of ${node.name}: ${seen().join(", ")}`;
        await until({ what: `${node.name} changed: ${what.join(", ")}`, seconds: 60, evidence }, () => what.every((change) => seen().includes(change)));
    }
    /**
     * Waits (40 s) until the node, by a no or by silence, and we refuse the route, and the watcher has seen the node's
     * refusal.
     */
    async refused(node, route) {
        const { rolecall } = this.#options;
        await until({ what: `no of ${node.name} to ${route}`, seconds: 40, evidence: () => rolecall.tail }, async () => {
            const replies = await Promise.all([node.ask(route), rolecall.ask(node.name, route)]);
            const isSeen = this.#watcher === null || this.#watcher.latest(node, route) !== 200;
            return replies.some(isYes) || !isSeen ? undefined : true;
        });
    }
    /** What `act` found, and the differences that were left when things should have settled. */
    async #play(watcher, act) {
        const { cluster, rolecall, settled } = this.#options;
        await watcher.begun();
        const found = await act();
        await cluster.whole();
        const left = await differences({ nodes: cluster.nodes, rolecall, routes: settled }, settleSeconds);
        await watcher.caughtUp();
        return { found, left };
    }
}
/** What holds at every instant, settled or not. */
function judge(timelines) {
    const late = timelines
        .filter((timeline) => overhangMs(timeline) > maxAgeMs)
        .map(({ node, route }) => `${node} ${route}`);
    assert.deepEqual(late, [], `a yes outlived the node's by more than ${maxAgeMs} ms`);
    const strange = timelines.flatMap(({ node, route, ours }) => ours.filter(({ status }) => ![200, 500, 503].includes(status)).map(({ status }) => `${node} ${route} ${status}`));
    assert.deepEqual(strange, [], "we were silent (0), or said something that is neither yes nor no");
    const primaries = together(timelines.filter(({ route }) => route === "/primary"));
    assert.equal(primaries.length, 0, "instants with two primaries");
}
//# sourceMappingURL=stage.js.map