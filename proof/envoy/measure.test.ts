import assert from "node:assert/strict";
import { test } from "node:test";
import type { Held, Opened } from "../../test/real/lab/database-clients.ts";
import { measure } from "./measure.ts";

const [old, next] = [5432, 5433];
const change = { oldServer: old, newServer: next, beganMs: 100, promotedMs: 1_000, verdictMs: 500, untilMs: 3_000 };

function opened(startedMs: number, endedMs: number, server: number | null): Opened {
  return { startedMs, endedMs, server, error: server === null ? "refused" : "" };
}

function held(server: number, [openedMs, endedMs]: readonly [number, number | null], answersMs: number[] = []): Held {
  return { server, openedMs, endedMs, answersMs };
}

test("the first write is that of the new primary which was acknowledged first", () => {
  const attempts = [
    opened(0, 10, old),
    opened(1_000, 1_030, null),
    opened(1_010, 1_050, next),
    opened(1_005, 1_060, next),
  ];
  const { firstWriteMs, routedMs, refused, wentBack } = measure({ opened: attempts, held: [] }, change);
  assert.deepEqual([firstWriteMs, routedMs, refused, wentBack], [50, 10, 1, 0]);
});

test("a new connection to the old primary after that went back", () => {
  const attempts = [opened(1_010, 1_050, next), opened(1_040, 1_055, old), opened(1_051, 1_070, old)];
  assert.equal(measure({ opened: attempts, held: [] }, change).wentBack, 1);
});

test("sessions of the old primary count from the begin of the change, and their end from the verdict", () => {
  const sessions = [
    held(old, [0, 50]),
    held(old, [0, 480]),
    held(old, [0, 600], [490, 510, 590]),
    held(old, [0, 570]),
    held(next, [1_100, null], [1_200]),
  ];
  const {
    sessions: count,
    cutMs,
    left,
    lateWrites,
  } = measure({ opened: [opened(600, 620, old)], held: sessions }, change);
  assert.deepEqual([count, cutMs, left, lateWrites], [3, 100, 0, 3]);
});

test("a session that lives is left, and what it wrote after the verdict is late", () => {
  const sessions = [held(old, [0, null], [600, 700, 4_000]), held(old, [0, 3_500])];
  const { cutMs, left, lateWrites } = measure({ opened: [], held: sessions }, change);
  assert.deepEqual([cutMs, left, lateWrites], [null, 2, 2]);
});

test("without a new primary and a verdict nothing is late", () => {
  const found = measure(
    { opened: [opened(600, 620, old)], held: [held(old, [0, 700], [650])] },
    { ...change, verdictMs: null },
  );
  assert.deepEqual([found.firstWriteMs, found.routedMs, found.cutMs, found.lateWrites], [null, null, null, 0]);
});
