import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { answerSourcesOf } from "../../../src/app/handlers/answer-sources.js";
import { buildListenerHandler } from "../../../src/app/handlers/listener-handler.js";
import { unrestrictedAccess } from "../../../src/config/model/listener-access-config.js";
import { AnswerCounter } from "../../../src/http/message/answer-counter.js";
import { errorReply } from "../../../src/http/message/reply.js";
import { Clock } from "../../../src/state/clock.js";
import { buildClusters } from "../../../src/state/clusters.js";
import { Store } from "../../../src/state/store.js";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.js";
import { reportOf } from "../../fake/node-documents.js";
function requestOf(target) {
    return { method: "GET", target, host: undefined, nodeHeader: undefined, serverState: undefined };
}
function callOf(target) {
    const message = new IncomingMessage(new Socket());
    return {
        message,
        response: new ServerResponse(message),
        request: requestOf(target),
        caller: { address: "127.0.0.1", principal: null, consumesAuthorization: false },
        limits: unrestrictedAccess.limits,
        onError: (error) => assert.ifError(error),
    };
}
function fixtureOf(listener) {
    const nodes = [nodeOf({ name: "pg1", api: "http://pg1:8008" })];
    const config = configOf({ clusters: [clusterOf({ nodes })], listen: [listener] });
    const store = new Store("run", buildClusters(config, new Map()));
    const clock = new Clock({ tickIntervalMs: 60_000, onGap: () => { } });
    const counter = new AnswerCounter();
    const used = [];
    const use = async (part) => {
        used.push(part);
        return errorReply(418, "used", { message: part });
    };
    const backend = {
        passthrough: { manage: async () => void (await use("manage")), fetch: async () => void (await use("fetch")) },
        admin: () => use("admin"),
        diagnostics: () => use("diagnostics"),
        exporter: () => use("exporter"),
    };
    const phase = { current: "serving" };
    const sources = answerSourcesOf({
        store: () => store,
        clock: () => clock,
        phase: () => phase.current,
        counter,
        portOf: ({ port }) => port,
    });
    const handler = buildListenerHandler({ listener, config }, sources, backend);
    return {
        store,
        counter,
        used,
        handler,
        answer: async (target) => (await handler(callOf(target)))?.status,
        get phase() {
            return phase.current;
        },
        set phase(next) {
            phase.current = next;
        },
    };
}
/** Records that pg1 is the primary now. */
function lead(store) {
    const nowMs = performance.now();
    const report = reportOf("pg1", { role: "primary" });
    const result = { report, hasLock: true };
    store.record({ kind: "status", cluster: "demo", node: "pg1", sentAtMs: nowMs, sentAtWallMs: nowMs, result }, nowMs);
}
test("answers and counts checks on a node listener from the snapshot", async () => {
    const { store, answer, counter, used } = fixtureOf(listenerOf({ cluster: "demo", node: "pg1" }));
    assert.equal(await answer("/primary"), 503);
    lead(store);
    assert.equal(await answer("/primary"), 200);
    assert.deepEqual([...counter.rows()], [
        { route: "primary", status: 503, count: 1 },
        { route: "primary", status: 200, count: 1 },
    ]);
    assert.deepEqual(used, []);
});
test("is ready only while it serves and has fresh evidence", async () => {
    const fixture = fixtureOf(listenerOf({ cluster: "demo", node: "pg1" }));
    assert.equal(await fixture.answer("/readyz"), 503, "blind");
    lead(fixture.store);
    assert.equal(await fixture.answer("/readyz"), 200);
    fixture.phase = "draining";
    assert.equal(await fixture.answer("/readyz"), 503);
    assert.equal(await fixture.answer("/livez"), 200);
});
test("answers role paths on an exporter listener itself, and passes pages and the rest to the backend", async () => {
    const { answer, handler, used } = fixtureOf(listenerOf({ dialect: "exporter", cluster: "demo", node: "pg1" }));
    assert.equal(await answer("/up"), 503);
    assert.deepEqual(used, []);
    for (const target of ["/metrics", "/stat", "/explain", "/version"])
        assert.equal(await answer(target), 418, target);
    assert.deepEqual(used, ["exporter", "exporter", "exporter", "exporter"]);
    assert.deepEqual(["/reload", "/up"].map((target) => handler.changes?.(requestOf(target))), [true, false]);
});
test("passes every request of an admin listener to the backend", async () => {
    const { answer, used } = fixtureOf(listenerOf({ dialect: "admin" }));
    for (const target of ["/metrics", "/primary"])
        assert.equal(await answer(target), 418);
    assert.deepEqual(used, ["admin", "admin"]);
});
//# sourceMappingURL=listener-handler.test.js.map