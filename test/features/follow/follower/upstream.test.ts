import assert from "node:assert/strict";
import { test } from "node:test";
import type { FeedMessage, FeedRequest } from "../../../../src/features/follow/feed/feed-messages.ts";
import type { FeedSink } from "../../../../src/features/follow/follower/feed-connection.ts";
import { Upstream, upstreamProblem } from "../../../../src/features/follow/follower/upstream.ts";

const hello: Extract<FeedMessage, { hello: unknown }> = {
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
};

/** An upstream whose streams bring what the test says, at the time that it sets. */
function upstreamFixture(): {
  readonly upstream: Upstream;
  /** Where each stream that was opened delivers. */
  readonly streams: readonly FeedSink[];
  /** What each stream was to continue. */
  readonly resumed: readonly FeedRequest["resume"][];
  /** Lets time pass, and runs the timers that were set before. */
  readonly pass: (ms: number) => void;
  readonly nowMs: () => number;
} {
  const streams: FeedSink[] = [];
  const resumed: FeedRequest["resume"][] = [];
  const timers = new Set<() => void>();
  let nowMs = 0;
  const upstream = new Upstream(
    {
      name: "http://one",
      open: ({ resume }, sink) => {
        streams.push(sink);
        resumed.push(resume);
        return { echo: () => {}, select: () => {}, drain: () => assert.fail("no drain here"), close: () => {} };
      },
      self: { version: "1", name: "edge" },
      now: () => nowMs,
      reading: () => ({ monotonicMs: nowMs, addedMs: 0 }),
      wall: () => nowMs,
      setTimer: (run) => {
        timers.add(run);
        return () => timers.delete(run);
      },
      random: () => 0,
      echoEveryMs: 1_000,
      onState: () => {},
      onOutcome: () => {},
      onFull: () => {},
    },
    [],
  );
  const pass = (ms: number): void => {
    nowMs += ms;
    const before = [...timers];
    for (const run of before) if (timers.delete(run)) run();
  };
  return { upstream, streams, resumed, pass, nowMs: () => nowMs };
}

test("a stream that brings nothing for 10 s is opened anew", () => {
  const { upstream, streams, pass, nowMs } = upstreamFixture();
  upstream.start();
  streams[0]?.onMessage(hello);
  streams[0]?.onMessage({ ready: true });
  for (let times = 0; times < 9; times += 1) pass(1_000);
  assert.equal(upstream.state.kind, "live");
  streams[0]?.onMessage({ echo: { token: 99, at: nowMs(), added: 0 } });
  for (let times = 0; times < 10; times += 1) pass(1_000);
  assert.equal(upstream.state.kind, "live");
  pass(1_000);
  assert.equal(upstreamProblem(upstream.state), "nothing was heard of it for 10 s");
  pass(1_000);
  assert.equal(streams.length, 2);
  upstream.stop();
});

test("a stream that is accepted and does not begin is given up within 10 s", () => {
  const { upstream, streams, pass } = upstreamFixture();
  const kind = (): string => upstream.state.kind;
  upstream.start();
  streams[0]?.onBytes(20);
  for (let times = 0; times < 7; times += 1) pass(1_000);
  assert.equal(kind(), "connecting");
  pass(1_000);
  assert.equal(upstreamProblem(upstream.state), "its stream did not begin within 8 s");
  // What comes of it later changes nothing.
  streams[0]?.onMessage(hello);
  assert.equal(kind(), "waiting");
  pass(1_000);
  assert.equal(streams.length, 2);
  streams[1]?.onMessage(hello);
  for (let times = 0; times < 9; times += 1) pass(1_000);
  assert.equal(kind(), "live");
  upstream.stop();
});

test("while a stream is opened again, it is known why there is none, until it begins", () => {
  const { upstream, streams, pass } = upstreamFixture();
  const state = (): readonly unknown[] => [upstream.state.kind, upstreamProblem(upstream.state)];
  upstream.start();
  assert.deepEqual(state(), ["connecting", null]);
  streams[0]?.onEnd("status 401");
  assert.deepEqual(state(), ["waiting", "status 401"]);
  pass(0);
  assert.deepEqual(state(), ["connecting", "status 401"]);
  streams[1]?.onMessage(hello);
  assert.deepEqual(state(), ["live", null]);
  upstream.stop();
});

test("a stream that ends within a message is begun anew, and one that ends after it is continued", () => {
  const { upstream, streams, resumed, pass } = upstreamFixture();
  upstream.start();
  const live = (at: number): void => {
    streams[at]?.onMessage({ hello: { ...hello.hello, token: at + 1 } });
    streams[at]?.onMessage({ ready: true });
  };
  live(0);
  const changes: FeedMessage = { changes: [], seq: 7, at: 0, added: 0 };
  streams[0]?.onMessage(changes, true);
  streams[0]?.onMessage(changes);
  streams[0]?.onEnd("cut");
  pass(1_000);
  live(1);
  streams[1]?.onMessage({ ...changes, seq: 8 }, true);
  streams[1]?.onEnd("cut");
  pass(1_000);
  assert.deepEqual(resumed, [null, { group: "g", seq: 7 }, null]);
  upstream.stop();
});
