import assert from "node:assert/strict";
import { test } from "node:test";
import type { FeedSink } from "../../../src/fleet/follower/feed-connection.ts";
import { Upstream, upstreamProblem } from "../../../src/fleet/follower/upstream.ts";

test("while a stream is opened again, it is known why there is none, until it begins", () => {
  const sinks: FeedSink[] = [];
  const timers: (() => void)[] = [];
  const upstream = new Upstream(
    {
      name: "http://one",
      open: (_, sink) => {
        sinks.push(sink);
        return { echo: () => {}, select: () => {}, drain: () => assert.fail("no drain here"), close: () => {} };
      },
      self: { version: "1", name: "edge" },
      now: () => 0,
      reading: () => ({ monotonicMs: 0, addedMs: 0 }),
      wall: () => 0,
      setTimer: (run) => {
        timers.push(run);
        return () => {};
      },
      random: () => 0,
      echoEveryMs: 100,
      onState: () => {},
      onOutcome: () => {},
      onFull: () => {},
    },
    [],
  );
  const state = (): readonly unknown[] => [upstream.state.kind, upstreamProblem(upstream.state)];
  upstream.start();
  assert.deepEqual(state(), ["connecting", null]);
  sinks[0]?.onEnd("status 401");
  assert.deepEqual(state(), ["waiting", "status 401"]);
  timers[0]?.();
  assert.deepEqual(state(), ["connecting", "status 401"]);
  sinks[1]?.onMessage({
    hello: {
      version: "1",
      instance: "i",
      stream: "s",
      group: "g",
      resumed: true,
      canMove: true,
      refused: [],
      token: 1,
      at: 0,
      added: 0,
    },
  });
  assert.deepEqual(state(), ["live", null]);
  upstream.stop();
});
