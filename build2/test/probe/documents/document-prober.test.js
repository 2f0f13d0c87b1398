import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentProber } from "../../../src/probe/documents/document-prober.js";
import { chooseDocumentSource } from "../../../src/probe/documents/document-source.js";
import { failedReply, healthyCluster, jsonReply, neverReplies, FakeTransport, runPendingTasks, } from "../../fake/fake-transport.js";
import { ClusterFixture } from "../../fake/cluster-fixture.js";
const names = ["pg1", "pg2", "pg3"];
const seeds = ["http://pg8:8008", "http://pg9:8008"];
/** Three nodes that have just answered, with evidence that stays fresh for ten minutes. */
function answering() {
    const watched = new ClusterFixture({ policy: { maxAgeMs: 600_000 } });
    watched.document("config", { of: "pg1", value: { ttl: 1_000 } }, 0);
    watched.lead("pg1", 0);
    watched.follow("pg2", 0);
    watched.follow("pg3", 0);
    return watched;
}
function only(path, answer) {
    return (origin, requested) => requested === path ? answer(origin, requested) : healthyCluster(names)(origin, requested);
}
test("requests /cluster from one node each cluster interval, the others each config interval", async (context) => {
    const scripted = new FakeTransport(context, answering(), healthyCluster(names));
    const prober = new DocumentProber(scripted.context(), []);
    await prober.probe();
    await scripted.advance(31_000);
    assert.deepEqual(scripted.sentAt("/cluster"), [0, 3_000, 6_000, 9_000, 12_000, 15_000, 18_000, 21_000, 24_000, 27_000, 30_000]);
    assert.deepEqual(scripted.sentAt("/config"), [0, 30_000]);
    assert.deepEqual(scripted.sentAt("/history"), [0, 30_000]);
    assert.deepEqual(scripted.sentAt("/failsafe"), [0, 30_000]);
    const sources = scripted.sent.filter(({ url }) => url.endsWith("/cluster")).map(({ url }) => new URL(url).hostname);
    assert.deepEqual(sources.slice(0, 5), ["pg1", "pg2", "pg3", "pg1", "pg2"], "in turn, the leader too");
    assert.equal(scripted.fixture.cluster.documents.failsafe?.status, 502);
    prober.stop();
});
test("rests 10 s after a failure, then 20, 40 and 60, until an answer", async (context) => {
    const scripted = new FakeTransport(context, answering(), only("/cluster", () => failedReply("timeout")));
    const prober = new DocumentProber(scripted.context(), []);
    await prober.probe();
    await scripted.advance(195_000);
    assert.deepEqual(scripted.sentAt("/cluster"), [0, 10_000, 30_000, 70_000, 130_000, 190_000]);
    scripted.respond = healthyCluster(names);
    await scripted.advance(60_000);
    assert.deepEqual(scripted.sentAt("/cluster").slice(6), [250_000, 253_000]);
    prober.stop();
});
test("rests after a failed slow document too, except /failsafe, which nodes may not have", async (context) => {
    const scripted = new FakeTransport(context, answering(), only("/history", () => failedReply("timeout")));
    const prober = new DocumentProber(scripted.context(), []);
    await prober.probe();
    await scripted.advance(9_900);
    assert.deepEqual(scripted.sentAt("/cluster"), [0]);
    scripted.respond = only("/failsafe", () => failedReply("timeout"));
    await scripted.advance(3_200);
    assert.deepEqual(scripted.sentAt("/cluster"), [0, 10_000, 13_000]);
    prober.stop();
});
test("tries the next node without a rest after a refused connection", async (context) => {
    const scripted = new FakeTransport(context, answering(), (origin, path) => origin.includes("pg2") ? failedReply("refused") : healthyCluster(names)(origin, path));
    const prober = new DocumentProber(scripted.context(), []);
    await prober.probe();
    await scripted.advance(4_000);
    assert.deepEqual(scripted.sent
        .filter(({ url }) => url.endsWith("/cluster"))
        .map(({ atMs, url }) => `${atMs} ${new URL(url).hostname}`), ["0 pg1", "3000 pg2", "4000 pg3"]);
    prober.stop();
});
test("requests no document while the only claimant reports failsafe, because the DCS is down", async (context) => {
    const watched = answering();
    watched.lead("pg1", 0, { failsafe_mode_is_active: true });
    const scripted = new FakeTransport(context, watched, healthyCluster(names));
    const prober = new DocumentProber(scripted.context(), []);
    await prober.probe();
    prober.probeAll();
    await scripted.advance(20_000);
    assert.deepEqual(scripted.sent, []);
    watched.lead("pg1", scripted.nowMs);
    await scripted.advance(1_000);
    assert.equal(scripted.sentAt("/cluster").length, 1);
    prober.stop();
});
test("requests all documents again after a change during a request", async (context) => {
    const scripted = new FakeTransport(context, answering(), healthyCluster(names));
    const prober = new DocumentProber(scripted.context(), []);
    const first = prober.probe();
    await runPendingTasks();
    prober.probeAll();
    await first;
    await scripted.advance(50);
    assert.equal(scripted.sentAt("/cluster").length, 4, "one, and then all three");
    assert.equal(scripted.sentAt("/config").length, 2);
    await scripted.advance(500);
    assert.equal(scripted.sentAt("/cluster").length, 4);
    prober.stop();
});
test("tries the seeds in turn until one knows the members", async (context) => {
    const watched = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
    const scripted = new FakeTransport(context, watched, () => jsonReply({ members: [] }));
    const prober = new DocumentProber(scripted.context(), seeds);
    await prober.probe();
    await scripted.advance(3_000);
    assert.deepEqual(scripted.sent.map(({ atMs, url }) => `${atMs} ${new URL(url).hostname}`), ["0 pg8", "1000 pg9", "2000 pg8", "3000 pg9"]);
    prober.stop();
});
test("rests once every seed hung: the DCS may be down", async (context) => {
    const watched = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
    const scripted = new FakeTransport(context, watched, () => failedReply("timeout"));
    const prober = new DocumentProber(scripted.context(), seeds);
    await prober.probe();
    await scripted.advance(35_000);
    assert.deepEqual(scripted.sentAt("/cluster"), [0, 1_000, 11_000, 31_000]);
    prober.stop();
});
test("does not record an answer that arrives after stop", async (context) => {
    const scripted = new FakeTransport(context, answering(), neverReplies);
    let answer = () => { };
    scripted.respond = () => new Promise((resolve) => (answer = () => resolve(jsonReply({ scope: "demo", members: [] }))));
    const prober = new DocumentProber(scripted.context(), []);
    void prober.probe();
    await runPendingTasks();
    prober.stop();
    answer();
    await scripted.advance(5_000);
    assert.deepEqual(scripted.recorded, []);
    assert.equal(scripted.sent.length, 1);
});
test("chooses the answering nodes in turn; without any, seeds and nodes in turn", (context) => {
    const watched = answering();
    const scripted = new FakeTransport(context, watched, neverReplies);
    const probeContext = scripted.context();
    const chosen = (turns) => Array.from({ length: turns }, (_, at) => chooseDocumentSource(probeContext, ["http://pg8:8008", "http://pg1:8008"], at)?.name);
    assert.deepEqual(chosen(3), ["pg1", "pg2", "pg3"]);
    watched.fail("pg2", "timeout", 1);
    watched.follow("pg3", 1, { patroni: { version: "4.1.4", scope: "other", name: "pg3" } });
    assert.deepEqual(chosen(2), ["pg1", "pg1"], "neither one that fails nor one of another scope");
    watched.fail("pg1", "timeout", 2);
    assert.deepEqual(chosen(6), ["http://pg8:8008", "pg1", "pg1", "pg2", "pg3", "http://pg8:8008"], "a seed that is a node has that node's name");
    assert.equal(chooseDocumentSource({ ...probeContext, state: () => new ClusterFixture({ nodes: [] }).cluster }, [], 0), null);
});
//# sourceMappingURL=document-prober.test.js.map