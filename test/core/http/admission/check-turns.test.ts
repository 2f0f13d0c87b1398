import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { CheckTurns, type PausedConnection } from "../../../../src/core/http/admission/check-turns.ts";

/** Connections that always have a request, each of which takes some ms of a clock. */
class Clients {
  readonly turns: CheckTurns;
  readonly answers = new Map<string, number>();
  readonly #tookMs: number;
  readonly #reading = new Set<string>();
  #nowMs = 0;

  constructor(count: number, tookMs: number) {
    this.#tookMs = tookMs;
    this.turns = new CheckTurns(() => this.#nowMs);
    for (let at = 0; at < count; at += 1) this.#reading.add(`c${at}`);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** What libuv does in one turn: it reads from all that have something, up to so many times. @returns the answers */
  async turn(readsMax: number): Promise<number> {
    let answered = 0;
    for (let reads = 0; reads < readsMax && this.#reading.size > 0; reads += 1)
      for (const client of this.#reading) {
        this.#nowMs += this.#tookMs;
        answered += 1;
        this.answers.set(client, (this.answers.get(client) ?? 0) + 1);
        if (!this.turns.count()) continue;
        this.#reading.delete(client);
        this.turns.add(this.#paused(client));
      }
    await nextTurn();
    return answered;
  }

  #paused(client: string): PausedConnection {
    return { resume: () => void this.#reading.add(client) };
  }
}

test("a few clients never wait", async () => {
  const clients = new Clients(3, 0.01);
  for (let turn = 0; turn < 100; turn += 1) assert.equal(await clients.turn(1), 3);
});

test("a turn that would go on for a third of a second ends after 4 ms and one answer for each connection", async () => {
  const clients = new Clients(100, 0.01);
  const first = await clients.turn(300);
  assert.ok(first < 700, `${first} answers`);
  const beganMs = clients.nowMs;
  for (let turn = 0; turn < 20; turn += 1) await clients.turn(300);
  assert.ok((clients.nowMs - beganMs) / 20 < 10, `${(clients.nowMs - beganMs) / 20} ms a turn`);
});

test("with thousands of connections a turn answers as many as one answers in 4 ms", async () => {
  const clients = new Clients(5_000, 0.01);
  await clients.turn(300);
  const counts: number[] = [];
  for (let turn = 0; turn < 50; turn += 1) counts.push(await clients.turn(300));
  const later = counts.slice(5);
  assert.ok(Math.max(...later) < 1_500, counts.join(" "));
  assert.ok(Math.min(...later) > 100, counts.join(" "));
});

test("connections are read on in the order in which they were paused: none waits for ever", async () => {
  const clients = new Clients(2_000, 0.01);
  for (let turn = 0; turn < 100; turn += 1) await clients.turn(300);
  const counts = [...clients.answers.values()];
  assert.equal(counts.length, 2_000);
  assert.ok(Math.min(...counts) >= Math.max(...counts) / 4, `${Math.min(...counts)} to ${Math.max(...counts)}`);
});

test("a connection that was closed meanwhile is not read on", async () => {
  const turns = new CheckTurns(() => 0, 0);
  const resumed: string[] = [];
  const [closed, open] = ["closed", "open"].map((name) => ({ resume: () => void resumed.push(name) }));
  assert.ok(closed !== undefined && open !== undefined);
  let isSpent = false;
  for (let at = 0; at < 100 && !isSpent; at += 1) isSpent = turns.count();
  assert.ok(isSpent);
  turns.add(closed);
  turns.add(open);
  turns.remove(closed);
  await nextTurn();
  assert.deepEqual(resumed, ["open"]);
});

test("reads no clock for most requests, and has one callback a turn", async (context) => {
  const clock = context.mock.fn(() => 0);
  const turns = new CheckTurns(clock);
  const { mock } = context.mock.method(globalThis, "setImmediate");
  for (let at = 0; at < 64; at += 1) assert.equal(turns.count(), false);
  assert.equal(clock.mock.callCount(), 4);
  assert.equal(mock.callCount(), 1);
  await nextTurn();
});
