import assert from "node:assert/strict";
import { test } from "node:test";
import { ListenerEventFeed, replayEvent } from "../../src/workers/listener-events.js";
import { listenerOf } from "../fake/config.js";
test("sends at most 50 rejected requests of a period one by one, and the number of the others", () => {
    const sent = [];
    const feed = new ListenerEventFeed((event) => sent.push(event));
    const events = feed.of(listenerOf({}));
    for (let request = 0; request < 60; request += 1)
        events.onRejected({ address: "10.0.0.9", status: request < 55 ? 401 : 403, request: null });
    assert.equal(sent.length, 50);
    feed.close();
    assert.deepEqual(sent.slice(50).map((event) => (event.kind === "rejected" ? [event.status, event.count] : event.kind)), [
        [401, 5],
        [403, 5],
    ]);
});
test("raises the events of a worker in the main process, those about files only for the first worker", () => {
    const raised = [];
    const events = {
        onError: (error) => void raised.push(["error", error]),
        onFiles: (problem) => void raised.push(["files", problem]),
        onRejected: ({ status }) => void raised.push(["rejected", status]),
    };
    const listener = listenerOf({});
    for (const worker of [0, 1]) {
        replayEvent({ kind: "error", listener, problem: "broken", request: null }, events, worker);
        replayEvent({ kind: "files", listener, problem: null }, events, worker);
        replayEvent({ kind: "rejected", listener, address: "", status: 403, request: null, count: 1 }, events, worker);
    }
    assert.deepEqual(raised, [
        ["error", "broken"],
        ["files", null],
        ["rejected", 403],
        ["error", "broken"],
        ["rejected", 403],
    ]);
});
//# sourceMappingURL=listener-events.test.js.map