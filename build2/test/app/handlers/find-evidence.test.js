import assert from "node:assert/strict";
import { test } from "node:test";
import { findEvidence } from "../../../src/app/handlers/find-evidence.js";
const drain = { reason: "disk swap", by: null, isAll: true, untilMs: 90_000, since: "", until: "" };
const held = {
    atMs: 100,
    atWallMs: 100,
    outcome: { kind: "drain", cluster: "demo", node: "pg1", drain },
};
const probed = {
    atMs: 600,
    atWallMs: 600,
    outcome: { kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: 590, isAlive: true },
};
const detached = new Map([["pg2", ["detached"]]]);
const rendering = { turn: { charge: () => { } }, signal: new AbortController().signal };
/** Evidence in memory since 50, a history since 10, and how often the disk was read. pg2 is accused since 300. */
function sourcesOf(recorded) {
    const reads = [];
    const sources = {
        eventLog: {
            evidenceSinceMs: 50,
            recorded: () => recorded,
            accused: (_cluster, wallMs) => (wallMs > 300 ? detached : new Map()),
        },
        history: {
            oldestEvidenceMs: async () => {
                reads.push("oldest");
                return 10;
            },
            readEvidence: async () => {
                reads.push("evidence");
                return { recorded: [], accused: new Map(), isComplete: true };
            },
        },
    };
    return { sources, reads };
}
test("accusations are those before the first outcome of the time, not before a drain that began earlier", async () => {
    const time = { cluster: "demo", fromWallMs: 500, toWallMs: 700 };
    for (const recorded of [[held, probed], [probed], [held]])
        assert.deepEqual((await findEvidence(sourcesOf(recorded).sources, time, rendering)).accused, detached);
});
test("the disk is read only if memory does not have the evidence of the time", async () => {
    const find = async (fromWallMs, recorded) => {
        const { sources, reads } = sourcesOf(recorded);
        const { sinceWallMs } = await findEvidence(sources, { cluster: "demo", fromWallMs, toWallMs: 700 }, rendering);
        return [reads, sinceWallMs];
    };
    assert.deepEqual(await find(500, [probed]), [[], 50]);
    assert.deepEqual(await find(500, []), [["oldest"], 10]);
    assert.deepEqual(await find(20, [probed]), [["oldest", "evidence"], 10]);
});
//# sourceMappingURL=find-evidence.test.js.map