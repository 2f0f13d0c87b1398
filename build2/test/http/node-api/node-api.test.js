import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { unrestrictedAccess } from "../../../src/config/model/listener-access-config.js";
import { Listener } from "../../../src/http/listener/listener.js";
import { NodeApi } from "../../../src/http/node-api/node-api.js";
import { collectErrors, NodeApiListener } from "../../fake/node-api-listener.js";
import { storeFixture } from "../../fake/store-fixture.js";
/** A listener without the fast path. */
async function serve(context) {
    const cluster = storeFixture();
    const counts = { judged: 0, counted: 0 };
    const sources = cluster.apiContext(() => void (counts.counted += 1));
    const api = new NodeApi(cluster.routingContext, {
        ...sources,
        inputs: () => {
            counts.judged += 1;
            return sources.inputs();
        },
    });
    const handler = (call) => api.handle(call);
    const listener = new Listener(handler, unrestrictedAccess, collectErrors([]));
    const port = await listener.open({ address: "127.0.0.1", port: 0 });
    context.after(() => listener.close(0));
    return { cluster, front: new NodeApiListener(port, [], []), counts };
}
suite("the reply cache of the ordinary path", () => {
    test("judges a repeated check twice, then answers from the cache with the same bytes", async (context) => {
        const { front, counts } = await serve(context);
        for (const method of ["GET", "HEAD", "OPTIONS"]) {
            counts.judged = counts.counted = 0;
            const answers = [];
            for (let nth = 0; nth < 5; nth += 1)
                answers.push(await front.request("/nodes/pg1/primary", { method }));
            assert.deepEqual(new Set(answers.map((answer) => JSON.stringify([answer, ...answer.headers]))).size, 1);
            assert.equal(answers[0]?.status, 200);
            assert.deepEqual(counts, { judged: 2, counted: 5 });
        }
    });
    test("judges again after a change of the cluster, and when the verdict expires", async (context) => {
        const { cluster, front } = await serve(context);
        const status = async () => (await front.request("/nodes/pg1/primary")).status;
        for (let nth = 0; nth < 3; nth += 1)
            assert.equal(await status(), 200);
        cluster.recordReport("pg1", 2_000, false);
        assert.equal(await status(), 503);
        cluster.recordReport("pg1", 2_000, true);
        for (let nth = 0; nth < 3; nth += 1)
            await status();
        cluster.nowMs += 60_000;
        assert.equal(await status(), 500, "no node has fresh evidence: blind");
    });
    test("does not answer a request with HAProxy's server state from the cache", async (context) => {
        const { front, counts } = await serve(context);
        const headers = ["X-Haproxy-Server-State: UP; address=10.0.0.9; port=5432"];
        for (let nth = 0; nth < 4; nth += 1)
            await front.request("/nodes/pg1/primary", { headers });
        assert.equal(counts.judged, 4);
    });
    test("closes the connection after an unread body, also with a cached reply", async (context) => {
        const { front } = await serve(context);
        for (let nth = 0; nth < 3; nth += 1)
            await front.request("/nodes/pg1/primary");
        const response = await front.sendBytes("GET /nodes/pg1/primary HTTP/1.1\r\nHost: any\r\nContent-Length: 2\r\n\r\n{}");
        assert.match(response, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n/);
    });
});
//# sourceMappingURL=node-api.test.js.map