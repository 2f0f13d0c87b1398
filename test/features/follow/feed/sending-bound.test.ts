import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import "../../../fake/property-seed.ts";
import { SendingBound } from "../../../../src/features/follow/feed/sending-bound.ts";

/** What a machine does for a while: it runs, its process is stopped, or it is suspended, which its clock does not count. */
type Pause = { readonly machine: "owner" | "follower"; readonly kind: "stopped" | "suspended"; readonly ms: number };

interface Step {
  readonly waitMs: number;
  readonly pause: Pause | null;
  /** How long a message takes to the other side, in ms. */
  readonly delayMs: number;
  readonly sends: "token" | "message";
}

/** A clock that runs at its own rate, and notices a suspend only when it is read. As `Clock`, but exact. */
class MachineClock {
  #hiddenMs = 0;
  #addedMs = 0;
  readonly #rate: number;
  readonly #startMs: number;

  constructor(startMs: number, rate: number) {
    this.#startMs = startMs;
    this.#rate = rate;
  }

  suspend(ms: number): void {
    this.#hiddenMs += ms * this.#rate;
  }

  /** @param trueMs the true time, which includes suspends */
  read(trueMs: number): { readonly nowMs: number; readonly addedMs: number } {
    this.#addedMs = this.#hiddenMs;
    return { nowMs: this.#startMs + trueMs * this.#rate - this.#hiddenMs + this.#addedMs, addedMs: this.#addedMs };
  }

  /** What it shows at a true instant of its past, by its present rate and gaps. */
  at(trueMs: number): number {
    return this.#startMs + trueMs * this.#rate;
  }
}

const pause = fc.record({
  machine: fc.constantFrom("owner" as const, "follower" as const),
  kind: fc.constantFrom("stopped" as const, "suspended" as const),
  ms: fc.integer({ min: 1, max: 60_000 }),
});
const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.integer({ min: 0, max: 2_000 }),
  pause: fc.option(pause, { freq: 5 }),
  delayMs: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) }, fc.integer({ min: 0, max: 30_000 })),
  sends: fc.constantFrom("token" as const, "message" as const),
});
const rate = fc.double({ min: 0.9998, max: 1.0002, noNaN: true });
const start = fc.integer({ min: 0, max: 1e9 });

test("a follower's evidence is never younger than the truth", () => {
  let placed = 0;
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      start,
      start,
      rate,
      rate,
      (steps, one, other, oneRate, otherRate) => {
        const clocks = { owner: new MachineClock(one, oneRate), follower: new MachineClock(other, otherRate) };
        const bound = new SendingBound();
        let trueMs = 0;
        // What was sent earlier comes once more: a stream that continues.
        const kept: { readonly at: number; readonly addedMs: number; readonly sentTrueMs: number }[] = [];
        for (const { waitMs, pause: standing, delayMs, sends } of steps) {
          trueMs += waitMs;
          if (standing !== null) {
            if (standing.kind === "suspended") clocks[standing.machine].suspend(standing.ms);
            trueMs += standing.ms;
          }
          if (sends === "token") {
            const sent = clocks.follower.read(trueMs);
            trueMs += delayMs;
            const received = clocks.owner.read(trueMs);
            trueMs += delayMs;
            bound.take(
              {
                sentAtMs: sent.nowMs,
                sentAddedMs: sent.addedMs,
                receivedAtMs: received.nowMs,
                receivedAddedMs: received.addedMs,
              },
              { follower: clocks.follower.read(trueMs).addedMs, owner: received.addedMs },
            );
            continue;
          }
          const read = clocks.owner.read(trueMs);
          kept.push({ at: read.nowMs, addedMs: read.addedMs, sentTrueMs: trueMs });
          trueMs += delayMs;
          const now = clocks.follower.read(trueMs);
          for (const { at, addedMs, sentTrueMs } of kept.slice(-3)) {
            const instantMs = bound.earliest(at, now.nowMs, { follower: now.addedMs, owner: addedMs });
            if (instantMs === null) continue;
            placed += 1;
            const lateMs = instantMs - clocks.follower.at(sentTrueMs);
            assert.ok(lateMs <= 1e-3, `placed ${lateMs} ms after it was sent`);
          }
        }
      },
    ),
    { numRuns: 2_000 },
  );
  assert.ok(placed > 1_000, `${placed} messages were placed`);
});

test("at rest it is as old as the way of a token", () => {
  const bound = new SendingBound();
  const added = { follower: 0, owner: 0 };
  bound.take({ sentAtMs: 1_000, sentAddedMs: 0, receivedAtMs: 501_003, receivedAddedMs: 0 }, added);
  bound.take({ sentAtMs: 2_000, sentAddedMs: 0, receivedAtMs: 502_001, receivedAddedMs: 0 }, added);
  assert.equal(bound.earliest(502_001, 2_000, added), 2_000);
  // The first token was slower by 2 ms.
  assert.equal(bound.earliest(501_003, 2_000, added), 1_002 - 0.0005 * 998);
});

test("what spans a gap of either clock places nothing", () => {
  const bound = new SendingBound();
  bound.take({ sentAtMs: 1_000, sentAddedMs: 0, receivedAtMs: 1_000, receivedAddedMs: 0 }, { follower: 0, owner: 0 });
  assert.equal(bound.earliest(1_000, 1_000, { follower: 0, owner: 5_000 }), null);
  assert.equal(bound.earliest(1_000, 1_000, { follower: 5_000, owner: 0 }), null);
  assert.equal(bound.earliest(1_000, 1_000, { follower: 0, owner: 0 }), 1_000);
  bound.take({ sentAtMs: 1_000, sentAddedMs: 0, receivedAtMs: 1_000, receivedAddedMs: 0 }, { follower: 9, owner: 0 });
  assert.equal(bound.earliest(1_000, 1_000, { follower: 9, owner: 0 }), null);
});
