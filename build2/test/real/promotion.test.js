/**
 * Switchovers of a real cluster under load: the replica that stays one is never refused, by a limit in bytes or in
 * time, without `keep`. Three for each version; ROLECALL_SWITCHOVERS sets another number, as in
 * `ROLECALL_SWITCHOVERS=10 node --test build/test/real/promotion.test.js`.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beside } from "./lab/beside.js";
import { Cluster } from "./lab/cluster.js";
import { psql } from "./lab/psql.js";
import { Rolecall } from "./lab/rolecall.js";
import { account, Refusals } from "./watch/refusals.js";
const switchovers = Number(process.env["ROLECALL_SWITCHOVERS"] ?? 3);
const checks = ["/replica?lag=10MB", "/replica?lag_time=10s"];
/** How long a replica is watched before a switchover, and after the cluster is whole again, in ms. */
const aroundMs = { before: 2_000, after: 3_000 };
for (const version of ["3.0.2", "4.1"])
    beside(version, "promotions", (command) => {
        let cluster;
        let rolecall;
        before(async () => {
            cluster = await Cluster.start(command);
            await cluster.streaming();
            rolecall = await Rolecall.start(cluster);
        });
        after(async () => {
            await rolecall?.stop();
            await cluster?.stop();
        });
        for (let round = 1; round <= switchovers; round += 1)
            test(`switchover ${round} refuses no replica that stays one`, async () => {
                assert.ok(cluster !== undefined && rolecall !== undefined);
                const [next, staying] = await cluster.replicas();
                assert.ok(next !== undefined && staying !== undefined);
                const load = new Load(cluster);
                const refusals = new Refusals({ rolecall, node: staying.name, checks });
                try {
                    await sleep(aroundMs.before);
                    await cluster.switchOver(next);
                    await cluster.whole();
                    await sleep(aroundMs.after);
                }
                finally {
                    await Promise.all([refusals.stop(), load.stop()]);
                }
                console.log(`Patroni ${version}, switchover ${round} to ${next.name}: ${account(refusals)}; ${load.written} writes`);
                assert.ok(refusals.requestCount > 300 && load.written > 10);
                assert.deepEqual(refusals.found.map(({ check, reason }) => `${check} ${reason}`), []);
                await cluster.streaming();
            });
    }, 5 + switchovers);
/** Writes on whichever node takes writes, one small transaction after the other. */
class Load {
    #cluster;
    #running;
    #isStopped = false;
    written = 0;
    constructor(cluster) {
        this.#cluster = cluster;
        this.#running = this.#run();
    }
    async stop() {
        this.#isStopped = true;
        await this.#running;
    }
    async #run() {
        const statement = "create table if not exists load (n int, filling text); insert into load select 1, repeat('x', 5000)";
        let [node] = this.#cluster.nodes;
        while (!this.#isStopped && node !== undefined) {
            if ((await psql(node.databasePort, statement, 2_000)) === "")
                this.written += 1;
            else
                node = this.#cluster.nodes[(this.#cluster.nodes.indexOf(node) + 1) % this.#cluster.nodes.length];
            await sleep(20);
        }
    }
}
//# sourceMappingURL=promotion.test.js.map