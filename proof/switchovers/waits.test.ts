import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { staleWrites, worstWait, writesOfOldPrimaries } from "./waits.ts";

const write = (client: number, startedMs: number, endedMs: number, server: number, timeline = 1) => ({
  client,
  startedMs,
  endedMs,
  server,
  timeline,
  seq: 1,
  position: 0,
});

describe("the longest wait of a client", () => {
  test("is that of an answer, or of an error", () => {
    const acknowledged = [write(0, 10, 15, 1), write(1, 11, 40, 1), write(2, 12, 20, 1)];
    assert.deepEqual(worstWait({ acknowledged, failures: [] }), { client: 1, waitMs: 29 });
    const failures = [{ client: 3, seq: 7, error: "closed", startedMs: 0, waitMs: 30 }];
    assert.deepEqual(worstWait({ acknowledged, failures }), { client: 3, waitMs: 30 });
  });

  test("is none where nobody asked", () => {
    assert.equal(worstWait({ acknowledged: [], failures: [] }).waitMs, 0);
  });
});

describe("writes on the old primary", () => {
  test("are stale if they were sent after the first answer of the new one", () => {
    const before = [write(0, 1, 2, 1), write(1, 3, 12, 1), write(0, 4, 10, 2), write(2, 9, 11, 1)];
    assert.deepEqual(staleWrites(before, 2), []);
    const late = write(3, 10.5, 12, 1);
    assert.deepEqual(staleWrites([...before, late], 2), [late]);
  });

  test("are never stale while the new one has not answered", () => {
    assert.deepEqual(staleWrites([write(0, 1, 2, 1)], 2), []);
  });
});

describe("two primaries", () => {
  const there = [write(0, 1, 2, 1, 1), write(1, 3, 12, 1, 1), write(0, 4, 10, 2, 2), write(0, 20, 21, 1, 3)];

  test("are not seen in switchovers there and back", () => assert.deepEqual(writesOfOldPrimaries(there), []));

  test("are seen in a write on an old timeline, sent after an answer of the new one", () => {
    const late = write(3, 10.5, 12, 1, 1);
    assert.deepEqual(writesOfOldPrimaries([...there, late]), [late]);
  });

  test("are seen in two servers on one timeline", () => {
    const other = write(3, 5, 13, 3, 2);
    assert.deepEqual(writesOfOldPrimaries([...there, other]), [other]);
  });
});
