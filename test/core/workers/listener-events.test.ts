import assert from "node:assert/strict";
import { test } from "node:test";
import { ListenerEventFeed, replayEvent } from "../../../src/core/workers/listener-events.ts";
import type { SentEvent } from "../../../src/core/workers/messages.ts";
import { listenerOf } from "../../fake/config.ts";

test("sends at most 50 rejected requests of a period one by one, and the number of the others", () => {
  const sent: SentEvent[] = [];
  const feed = new ListenerEventFeed((event) => sent.push(event));
  const events = feed.of(listenerOf({}));
  for (let request = 0; request < 60; request += 1)
    events.onRejected({
      address: "10.0.0.9",
      status: 400,
      reason: request < 55 ? "http2" : "malformed",
      request: null,
    });
  assert.equal(sent.length, 50);
  feed.close();
  assert.deepEqual(
    sent.slice(50).map((event) => (event.kind === "rejected" ? [event.reason, event.count] : event.kind)),
    [
      ["http2", 5],
      ["malformed", 5],
    ],
  );
});

test("raises the events of a worker in the main process, those about files only for the first worker", () => {
  const raised: unknown[] = [];
  const events = {
    onError: (error: unknown) => void raised.push(["error", error]),
    onFiles: (problem: string | null) => void raised.push(["files", problem]),
    onRejected: ({ status }: { readonly status: number | null }) => void raised.push(["rejected", status]),
  };
  const listener = listenerOf({});
  for (const worker of [0, 1]) {
    replayEvent({ kind: "error", listener, problem: "broken", request: null }, events, worker);
    replayEvent({ kind: "files", listener, problem: null }, events, worker);
    replayEvent(
      { kind: "rejected", listener, address: "", status: 403, reason: "read_only", request: null, count: 1 },
      events,
      worker,
    );
  }
  assert.deepEqual(raised, [
    ["error", "broken"],
    ["files", null],
    ["rejected", 403],
    ["error", "broken"],
    ["rejected", 403],
  ]);
});
