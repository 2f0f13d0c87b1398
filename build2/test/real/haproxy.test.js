/**
 * HAProxy with real servers: it checks each of them through rolecall, and each new connection queries its server.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beside } from "./lab/beside.js";
import { Cluster } from "./lab/cluster.js";
import { Haproxy } from "./lab/haproxy.js";
import { ports } from "./lab/ports.js";
import { psql } from "./lab/psql.js";
import { Rolecall } from "./lab/rolecall.js";
import { until } from "../fake/until.js";
beside("3.0.2", "HAProxy asks rolecall", scenarios);
function scenarios(command) {
    let cluster;
    let rolecall;
    let haproxy;
    before(async () => {
        cluster = await Cluster.start(command);
        rolecall = await Rolecall.start(cluster);
        haproxy = await Haproxy.start(cluster);
        await settled();
    });
    after(async () => {
        await haproxy?.stop();
        await rolecall?.stop();
        await cluster?.stop();
    });
    test("routes writes to the leader and reads to both replicas", async () => {
        await assertRouted();
    });
    test("routes no new connection to the old primary once one has reached the new primary", async () => {
        const old = await cluster.leader();
        const [next] = await cluster.replicas();
        assert.ok(next !== undefined);
        const landings = [];
        const watch = new AbortController();
        const watching = collect(landings, watch.signal);
        try {
            await cluster.switchOver(next);
            await cluster.whole();
            await settled();
        }
        finally {
            watch.abort();
            await watching;
            print(landings);
        }
        assert.equal((await cluster.leader()).name, next.name);
        const first = landings.findIndex((landing) => landing?.port === next.databasePort);
        assert.notEqual(first, -1, "the new primary was never reached");
        const earlier = new Set(landings.slice(0, first).flatMap((landing) => (landing === undefined ? [] : [landing.port])));
        assert.deepEqual([...earlier], [old.databasePort], "before that, only the old primary was reached");
        const since = new Set(landings.slice(first).map((landing) => JSON.stringify(landing ?? "none")));
        assert.deepEqual([...since], [JSON.stringify({ port: next.databasePort, inRecovery: false })], "from then on, only the new primary was");
        await assertRouted();
    });
    /** HAProxy shows one server up for writes and two for reads, as the cluster has them. */
    async function settled() {
        const leader = await cluster.leader();
        const wanted = cluster.nodes.map(({ name }) => (name === leader.name ? `write ${name}` : `read ${name}`)).sort();
        await until({ what: `settled HAProxy (${wanted.join(", ")})`, seconds: 20, evidence: () => rolecall.tail }, async () => {
            const up = (await haproxy.servers())
                .filter(({ status }) => status === "UP")
                .map(({ pool, node }) => `${pool} ${node}`);
            return up.sort().join() === wanted.join() ? true : undefined;
        });
    }
    /** Opens ten new connections through each port, and queries the server of each. */
    async function assertRouted() {
        const leader = await cluster.leader();
        const replicas = (await cluster.replicas()).map(({ databasePort }) => databasePort);
        const writes = await landTen(ports.haproxyWrite);
        assert.deepEqual([...writes], [`${leader.databasePort} primary`]);
        const reads = await landTen(ports.haproxyRead);
        assert.deepEqual([...reads].sort(), replicas.map((port) => `${port} replica`).sort());
    }
}
/** Opens one write connection after the other until the signal. */
async function collect(landings, signal) {
    while (!signal.aborted) {
        landings.push(await land(ports.haproxyWrite));
        await sleep(50);
    }
}
async function landTen(port) {
    const landed = new Set();
    for (let count = 0; count < 10; count++) {
        const landing = await land(port);
        landed.add(landing === undefined ? "nowhere" : `${landing.port} ${landing.inRecovery ? "replica" : "primary"}`);
    }
    return landed;
}
async function land(port) {
    const row = await psql(port, "select inet_server_port(), pg_is_in_recovery()");
    const [, server, inRecovery] = /^(\d+)\|([tf])$/.exec(row ?? "") ?? [];
    return server === undefined ? undefined : { port: Number(server), inRecovery: inRecovery === "t" };
}
/** The landings in a row, equal ones together. */
function print(landings) {
    const words = landings.map((landing) => landing === undefined ? "nowhere" : `${landing.port}${landing.inRecovery ? " (in recovery)" : ""}`);
    const runs = [];
    for (const state of words) {
        const last = runs.at(-1);
        if (last?.state === state)
            last.times += 1;
        else
            runs.push({ state, times: 1 });
    }
    console.log(`HAProxy, switchover, new write connections: ${runs.map(({ state, times }) => `${state} x ${times}`).join(", ")}`);
}
//# sourceMappingURL=haproxy.test.js.map