import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ResponseTurns } from "../../../src/features/xds/response-turns.ts";
import { ManualClock } from "../../fake/manual-clock.ts";

/** Streams to which a response of so many bytes is due, and those that have gone. */
class Streams extends ManualClock {
  readonly turns = new ResponseTurns((run, delayMs) => this.setTimer(run, delayMs), 100);
  readonly gone: string[] = [];
  readonly ends: (() => void)[] = [];

  open(name: string, bytes: number): { go: () => void } {
    const stream = {
      go: (): void => {
        if (!this.turns.mayGo(stream)) return;
        this.gone.push(name);
        this.ends.push(this.turns.count(bytes));
      },
    };
    stream.go();
    return stream;
  }
}

describe("ResponseTurns", () => {
  it("lets streams go until the bytes on their way are too many, and the others as those are sent", () => {
    const streams = new Streams();
    for (const name of ["a", "b", "c", "d"]) streams.open(name, 60);
    assert.deepEqual(streams.gone, ["a", "b"]);
    streams.ends[0]?.();
    assert.deepEqual(streams.gone, ["a", "b", "c"]);
    streams.ends[0]?.();
    assert.deepEqual(streams.gone, ["a", "b", "c"], "one response is sent once");
    streams.ends[1]?.();
    assert.deepEqual(streams.gone, ["a", "b", "c", "d"]);
  });

  it("lets a response go that is larger than all may be", () => {
    const streams = new Streams();
    streams.open("a", 1_000);
    streams.open("b", 1);
    assert.deepEqual(streams.gone, ["a"]);
    streams.ends[0]?.();
    assert.deepEqual(streams.gone, ["a", "b"]);
  });

  it("waits for a client that does not read no longer than 250 ms", async () => {
    const streams = new Streams();
    for (const name of ["a", "b"]) streams.open(name, 100);
    await streams.pass(249);
    assert.deepEqual(streams.gone, ["a"]);
    await streams.pass(1);
    assert.deepEqual(streams.gone, ["a", "b"]);
    await streams.pass(250);
    assert.equal(streams.timers, 0);
  });

  it("forgets a stream that has ended", () => {
    const streams = new Streams();
    streams.open("a", 100);
    const ended = streams.open("b", 100);
    streams.open("c", 100);
    streams.turns.remove(ended);
    streams.ends[0]?.();
    assert.deepEqual(streams.gone, ["a", "c"]);
  });
});
