import { begin } from "./faults.js";
import { heal } from "./heal.js";
import { limits } from "./rounds.js";
import { nameOf } from "./scenario.js";
const tickMs = 20;
/** Runs faults, heals them, and waits until every sound node is fit again. */
export class Episode {
    #undo = new Map();
    #healedMs = Infinity;
    #isDone = false;
    #lastBadMs = -Infinity;
    #latest = [];
    #stage;
    #faults;
    constructor(stage, faults) {
        this.#stage = stage;
        this.#faults = faults;
    }
    /** Runs it to its end. */
    async run() {
        await Promise.all([this.#move(), this.#ask()]);
    }
    async #move() {
        const { cluster, report, now, isOver } = this.#stage;
        const startMs = now();
        const end = Math.max(0, ...this.#faults.map(({ atMs, forMs }) => atMs + forMs));
        while (!this.#isDone && !isOver()) {
            const nowMs = now();
            const atMs = nowMs - startMs;
            for (const fault of this.#faults) {
                if (atMs >= fault.atMs && !this.#undo.has(fault) && this.#healedMs === Infinity) {
                    report.event(nowMs, `begins: ${nameOf(fault)}`);
                    this.#undo.set(fault, begin(cluster, fault, nowMs));
                }
                if (atMs >= fault.atMs + fault.forMs)
                    this.#end(fault, nowMs);
            }
            if (this.#healedMs === Infinity && atMs >= Math.min(end, cluster.profile.faultsMs * 1.3)) {
                for (const fault of this.#faults)
                    this.#end(fault, nowMs);
                heal(cluster);
                this.#healedMs = nowMs;
                report.event(nowMs, "all healed");
            }
            await cluster.tick(nowMs);
            if (this.#healedMs < Infinity)
                this.#recover(nowMs);
            await new Promise((resolve) => void setTimeout(resolve, tickMs));
        }
    }
    #end(fault, nowMs) {
        const undo = this.#undo.get(fault);
        if (undo === undefined || undo === ended)
            return;
        this.#undo.set(fault, ended);
        undo();
        this.#stage.report.event(nowMs, `ends: ${nameOf(fault)}`);
    }
    /** Recovery counts from the last moment at which the truth itself was not healthy. */
    #recover(nowMs) {
        const { cluster, report } = this.#stage;
        const { profile, scene } = cluster;
        if (!cluster.isSettled(nowMs))
            this.#lastBadMs = nowMs;
        const sinceMs = Math.max(this.#healedMs, this.#lastBadMs);
        const bad = this.#unfit();
        if (bad.length === 0 && nowMs - sinceMs > profile.loopMs && this.#latest.length > 0) {
            this.#isDone = true;
            report.recovered(nowMs - sinceMs);
            return;
        }
        // A discovered cluster may have followed a clone's member list: its documents rest up to 60 s.
        const hadGuest = this.#faults.some(({ kind }) => kind === "guest") && scene.isDiscovered;
        const boundMs = profile.recoveryMs + (hadGuest ? 65_000 : 0);
        const slackMs = 2 * scene.stalls.within(sinceMs, nowMs);
        if (nowMs - sinceMs > boundMs + slackMs) {
            for (const violation of bad)
                report.violation(nowMs, violation, cluster);
        }
        if (nowMs - sinceMs > boundMs + slackMs + 90_000) {
            for (const { node, detail } of bad)
                report.violation(nowMs, { rule: "never-recovered", node, detail }, cluster);
            this.#isDone = true;
        }
        // The truth itself must settle, or the model is wrong.
        if (nowMs - this.#healedMs > 60_000 && sinceMs > nowMs - 1_000) {
            report.violation(nowMs, { rule: "model", node: null, detail: "the modelled cluster does not come to rest" }, cluster);
            this.#isDone = true;
        }
    }
    #unfit() {
        const { cluster, now } = this.#stage;
        const { world, troubles } = cluster;
        const wanted = new Map(world.nodes.map(({ name }) => [name, name === world.holding?.name ? "/primary" : `/replica?lag=${limits.wide}`]));
        return (this.#latest
            .filter(({ node, check, status }) => node !== null && wanted.get(node) === check && status !== 200)
            // A clone at a node's address may keep the name permanently: they are indistinguishable (README).
            .filter(({ node }) => troubles.last(node ?? "", "moved") < now() - 2_000)
            .map(({ node, path, phrase }) => ({ rule: "recovery", node, detail: `${path}: still ${phrase}` })));
    }
    async #ask() {
        const { cluster, rounds, report, now, isOver } = this.#stage;
        while (!this.#isDone && !isOver()) {
            const beganMs = now();
            try {
                const { answers, violations } = await rounds.next();
                this.#latest = answers;
                report.answers(beganMs, answers);
                for (const violation of violations)
                    report.violation(beganMs, violation, cluster);
            }
            catch (error) {
                if (!isOver())
                    report.violation(beganMs, { rule: "answers", node: null, detail: String(error) }, cluster);
                await new Promise((resolve) => void setTimeout(resolve, 200));
            }
            await new Promise((resolve) => void setTimeout(resolve, Math.max(5, cluster.profile.askEveryMs - (now() - beganMs))));
        }
    }
}
const ended = () => undefined;
//# sourceMappingURL=episode.js.map