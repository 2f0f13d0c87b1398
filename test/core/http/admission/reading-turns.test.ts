import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { ReadingTurns, type WaitingReader } from "../../../../src/core/http/admission/reading-turns.ts";

/** A reader with so many pieces left, each of which takes so many ms of a clock. */
function readerOf(name: string, pieces: number, read: (name: string) => void): WaitingReader {
  let left = pieces;
  return {
    readOn: () => {
      read(name);
      left -= 1;
      return left > 0;
    },
  };
}

test("lets connections read on in turn, for one millisecond, and then lets eight turns of the event loop pass", async () => {
  let nowMs = 0;
  const reads: string[] = [];
  const turns = new ReadingTurns(() => nowMs);
  const read = (name: string): void => {
    reads.push(name);
    nowMs += 0.3;
  };
  turns.add(readerOf("a", 5, read));
  turns.add(readerOf("b", 2, read));
  const after: string[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    await nextTurn();
    after.push(reads.join(""));
  }
  assert.deepEqual(after, [...Array<string>(9).fill("abab"), ...Array<string>(3).fill("ababaaa")]);
});

test("forgets a connection that has nothing to read any more", async () => {
  const reads: string[] = [];
  const turns = new ReadingTurns();
  const [gone, other] = ["gone", "other"].map((name) => readerOf(name, 1, (each) => reads.push(each)));
  assert.ok(gone !== undefined && other !== undefined);
  turns.add(gone);
  turns.add(other);
  turns.remove(gone);
  await nextTurn();
  assert.deepEqual(reads, ["other"]);
});

test("holds 16 MB of all connections, and again what was released", () => {
  const turns = new ReadingTurns();
  const mib = 1024 * 1024;
  assert.equal(turns.hold(10 * mib), true);
  assert.equal(turns.hold(6 * mib + 1), false);
  assert.equal(turns.hold(6 * mib), true);
  turns.release(mib);
  assert.equal(turns.hold(mib), true);
  assert.equal(turns.hold(1), false);
});
