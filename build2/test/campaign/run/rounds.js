import { headDiffers, wholeDiffers } from "../oracle/consistency.js";
import { questionOf } from "../rolecall/asker.js";
/** The limits in bytes that every campaign requests. */
export const limits = { bytes: 65_536, wide: 67_108_864 };
/** Sends all questions about a cluster, some of them in rotation, and judges the responses. */
export class Rounds {
    #turn = 0;
    #cluster;
    #asker;
    #operator;
    #now;
    constructor(cluster, asker, operator, now) {
        this.#cluster = cluster;
        this.#asker = asker;
        this.#operator = operator;
        this.#now = now;
    }
    async next() {
        const cluster = this.#cluster;
        this.#turn += 1;
        const names = cluster.world.nodes.map(({ name }) => name);
        const every = names.flatMap((node) => [
            this.#question(node, "/primary"),
            this.#question(node, `/replica?lag=${limits.wide}`),
        ]);
        const extra = this.#extra(names);
        const answers = await this.#asker.ask([...every, ...extra]);
        cluster.oracle.feed(cluster.scene, this.#now());
        const violations = [
            ...cluster.oracle.judge(cluster.scene, answers),
            ...this.#compared(answers.slice(every.length)),
        ];
        if (this.#turn % 40 === 0)
            violations.push(...(await this.#explained(names)));
        return { answers, violations };
    }
    #question(node, check, method = "GET") {
        return questionOf(this.#cluster.name, node, check, method);
    }
    #extra(names) {
        const each = (check) => names.map((node) => this.#question(node, check));
        const one = names[this.#turn % names.length] ?? null;
        switch (this.#turn % 6) {
            case 0:
                return each(`/replica?lag=${limits.bytes}`);
            case 1:
                return each(`/replica?lag_time=${this.#cluster.profile.lagTimeMs}ms`);
            case 2:
                return [...each("/primary"), this.#question(null, "/primary"), ...each("/primary")];
            case 3:
                return [...each("/replica"), this.#question(null, "/replica"), ...each("/replica")];
            case 4:
                return ["GET", "HEAD", "GET"].map((method) => this.#question(one, "/primary", method));
            default:
                return each("/replica?miss=404&unknown=500");
        }
    }
    #compared(extra) {
        const size = this.#cluster.world.nodes.length;
        const turn = this.#turn % 6;
        const [first, second, third] = extra;
        if (turn === 4 && first !== undefined && second !== undefined && third !== undefined) {
            return asViolations("head", first.node, headDiffers(first, second, third));
        }
        const whole = extra[size];
        if ((turn !== 2 && turn !== 3) || whole === undefined)
            return [];
        return asViolations("whole-cluster", null, wholeDiffers(extra.slice(0, size), whole, extra.slice(size + 1)));
    }
    /** An explanation says the same as the answers before and after it, where those agree. */
    async #explained(names) {
        const operator = this.#operator;
        const node = names[this.#turn % names.length];
        if (operator === null || node === undefined)
            return [];
        const check = this.#turn % 80 === 0 ? "/primary" : "/replica";
        const before = await this.#asker.ask([this.#question(node, check)]);
        const path = `/explain?cluster=${this.#cluster.name}&node=${node}&check=${check}`;
        const [explained] = await operator.ask([{ method: "GET", path, node, check }]);
        const after = await this.#asker.ask([this.#question(node, check)]);
        const [one, two] = [before[0], after[0]];
        if (one === undefined || two === undefined || explained === undefined)
            return [];
        // rolecall renders one page at a time. The other requests must retry.
        if (explained.status === 429)
            return [];
        if (explained.status !== 200)
            return asViolations("explain", node, `${path}: ${explained.status} ${explained.phrase}`);
        if (one.word?.snapshot !== two.word?.snapshot || one.word?.reason !== two.word?.reason)
            return [];
        const explanation = JSON.parse(explained.body);
        const isSame = explanation.fit === (one.status === 200) && (explanation.reason ?? null) === (one.word?.reason ?? null);
        return isSame
            ? []
            : asViolations("explain", node, `${check}: answered ${one.phrase}, explained ${explanation.fit} ${explanation.reason}`);
    }
}
function asViolations(rule, node, detail) {
    return detail === null ? [] : [{ rule, node, detail }];
}
//# sourceMappingURL=rounds.js.map