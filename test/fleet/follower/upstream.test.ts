import assert from "node:assert/strict";
import { test } from "node:test";
import type { FeedMessage } from "../../../src/fleet/feed/feed-messages.ts";
import type { FeedSink } from "../../../src/fleet/follower/feed-connection.ts";
import { Upstream, upstreamProblem } from "../../../src/fleet/follower/upstream.ts";

const hello: FeedMessage = {
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

test("a stream that brings nothing for 10 s is opened anew", () => {
  const [opened, timers]: [FeedSink[], { run: () => void; ms: number }[]] = [[], []];
  let nowMs = 0;
  const upstream = new Upstream(
    {
      name: "http://one",
      open: (_, sink) => {
        opened.push(sink);
        return { echo: () => {}, select: () => {}, drain: () => assert.fail("no drain here"), close: () => {} };
      },
      self: { version: "1", name: "edge" },
      now: () => nowMs,
      reading: () => ({ monotonicMs: nowMs, addedMs: 0 }),
      wall: () => nowMs,
      setTimer: (run, ms) => {
        const timer = { run, ms };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
      },
      random: () => 0,
      echoEveryMs: 1_000,
      onState: () => {},
      onOutcome: () => {},
      onFull: () => {},
    },
    [],
  );
  const pass = (): void => {
    nowMs += 1_000;
    for (const { run } of timers.splice(0)) run();
  };
  upstream.start();
  opened[0]?.onMessage(hello);
  opened[0]?.onMessage({ ready: true });
  for (let times = 0; times < 9; times += 1) pass();
  assert.equal(upstream.state.kind, "live");
  opened[0]?.onMessage({ echo: { token: 99, at: nowMs, added: 0 } });
  for (let times = 0; times < 10; times += 1) pass();
  assert.equal(upstream.state.kind, "live");
  pass();
  assert.equal(upstreamProblem(upstream.state), "nothing was heard of it for 10 s");
  pass();
  assert.equal(opened.length, 2);
  upstream.stop();
});

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
  sinks[1]?.onMessage(hello);
  assert.deepEqual(state(), ["live", null]);
  upstream.stop();
});
