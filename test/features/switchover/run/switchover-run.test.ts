import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RequestResult } from "../../../../src/features/switchover/machine/event.ts";
import { switchoverPlan } from "../../../fake/switchover-plan.ts";
import type { SwitchoverPlan } from "../../../../src/features/switchover/machine/plan.ts";
import type { Outcome } from "../../../../src/features/switchover/machine/state.ts";
import type { Preflight } from "../../../../src/features/switchover/preflight/preflight-line.ts";
import { runDocument } from "../../../../src/features/switchover/run/run-document.ts";
import {
  type Safeguard,
  type SwitchoverHands,
  SwitchoverRun,
} from "../../../../src/features/switchover/run/switchover-run.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";

const plan: SwitchoverPlan = {
  ...switchoverPlan,
  targets: [{ pooler: "pgb1", database: "orders", routes: [0] }],
  routes: [{ balancer: "pgb1", database: "orders" }],
  peers: [],
};
const passed: Preflight = { lines: [], refusal: null, forecastMs: 1_900 };

/** A run whose hands do at once what they are told, unless a test replaces what they do. */
class Fixture {
  readonly clock = new ManualClock();
  readonly done: string[] = [];
  readonly errors: unknown[] = [];
  readonly run: SwitchoverRun;
  outcome: Outcome | null = null;
  primary: string | null = "pg1";
  preflight = (): Promise<Preflight> => Promise.resolve(passed);
  arm: Safeguard["arm"] = () => Promise.resolve(null);
  tell: Safeguard["tell"] = () => Promise.resolve(null);
  claim = (): Promise<string | null> => Promise.resolve(null);
  isHeld = true;
  request: SwitchoverHands["request"] = (): Promise<RequestResult> => {
    this.primary = "pg2";
    return Promise.resolve({ kind: "accepted" });
  };
  lead: SwitchoverHands["lead"] = () => Promise.resolve("verified");
  close = (): Promise<void> => Promise.resolve();

  constructor() {
    const context = {
      plan,
      now: () => this.clock.nowMs,
      setTimer: this.clock.setTimer.bind(this.clock),
      onError: (error: unknown) => this.errors.push(error),
      onStep: () => {},
      onEnd: (outcome: Outcome) => {
        this.outcome = outcome;
      },
    };
    this.run = new SwitchoverRun(context, (run) => ({
      preflight: () => this.preflight(),
      safeguards: ["intent", "guardian"].map((name) => ({
        name,
        arm: () => this.arm(),
        tell: (leftMs) => this.tell(leftMs),
        beat: (open, leftMs) => this.done.push(`${name} beat ${open.join()} ${leftMs}`),
        disarm: () => this.done.push(`${name} disarm`),
      })),
      targets: [
        {
          heldMs: 1_700,
          waiting: null,
          pause: () => this.#do("pause", () => run.happened({ kind: "pause_answered", target: 0 })),
          readPaused: () => this.#do("read", () => run.happened({ kind: "paused_read", target: 0, isPaused: true })),
          cutFirst: () => this.done.push("cut"),
          resume: () => this.#do("resume", () => run.happened({ kind: "resumed", target: 0 })),
          close: () => this.done.push("close consoles"),
        },
      ],
      request: (mayStill) => this.request(mayStill),
      primary: () => ({ node: this.primary, pending: "unknown" }),
      lead: (route, node) => this.lead(route, node),
      close: () => this.close(),
      claim: {
        take: () => this.claim(),
        isHeld: () => this.isHeld,
        release: () => this.done.push("claim released"),
      },
      leave: (target) => this.done.push(`leave ${target}`),
    }));
  }

  async pass(ms: number): Promise<void> {
    this.run.start();
    await this.clock.pass(0);
    for (let at = 0; at < 5; at += 1) await new Promise((resolve) => setImmediate(resolve));
    await this.clock.pass(ms);
  }

  #do(name: string, then: () => void): void {
    this.done.push(name);
    then();
  }
}

describe("a run of a switchover", () => {
  test("carries out what the machine wants, and ends its safeguards", async () => {
    const fixture = new Fixture();
    await fixture.pass(1_000);
    assert.deepEqual(fixture.outcome, { kind: "switched", node: "pg2" });
    const deeds = fixture.done.filter((deed) => !deed.includes("beat"));
    assert.deepEqual(deeds, [
      "pause",
      "read",
      "resume",
      "intent disarm",
      "guardian disarm",
      "close consoles",
      "claim released",
    ]);
    await fixture.run.ended;
    assert.equal(fixture.clock.timers, 0);
    const facts = { by: "ann", startedWallMs: 0, nowMs: fixture.clock.nowMs };
    const { targets, text, forecast_ms: forecastMs, outcome } = runDocument(fixture.run, facts);
    assert.deepEqual(targets, [{ pooler: "pgb1", database: "orders", phase: null, held_ms: 1_700 }]);
    assert.deepEqual(
      [text, forecastMs, outcome?.kind],
      ["pg2 is the primary, and clients go on there.", 1_900, "switched"],
    );
  });

  test("says every 250 ms that it lives while clients are held, with what is open and the time left", async () => {
    const fixture = new Fixture();
    fixture.request = () => new Promise(() => {});
    await fixture.pass(1_010);
    const beats = fixture.done.filter((deed) => deed.startsWith("guardian beat"));
    assert.equal(beats.length, 4);
    assert.ok(
      beats.every((beat) => / 0 1[45]\d\d\d$/.test(beat)),
      beats.join("; "),
    );
  });

  test("says so, too, while something happens all the time", async () => {
    const fixture = new Fixture();
    fixture.request = () => new Promise(() => {});
    await fixture.pass(0);
    for (let at = 0; at < 100; at += 1) {
      fixture.run.clusterChanged();
      await fixture.clock.pass(10);
    }
    assert.equal(fixture.done.filter((deed) => deed.startsWith("guardian beat")).length, 4);
  });

  test("resumes at the deadline, whatever does not answer", async () => {
    const fixture = new Fixture();
    fixture.request = () => new Promise(() => {});
    await fixture.pass(15_000);
    assert.equal(fixture.done.filter((deed) => deed === "resume").length, 1);
    assert.match(JSON.stringify(fixture.run.state), /"following".*pg1 still leads 15 s after the first PAUSE/);
  });

  for (const [title, happens] of [
    ["stood still, however the next thing that it does is to look at the time", null],
    ["is taken over by the guardian", { kind: "guardian_lost", why: "no sign of life for 1 s", hasTakenOver: true }],
    ["is taken over by a peer", { kind: "fenced", by: "core2" }],
  ] as const)
    test(`requests nothing any more after it ${title}`, async () => {
      const fixture = new Fixture();
      let mayStill = (): boolean => false;
      fixture.request = (may) => {
        mayStill = may;
        return new Promise(() => {});
      };
      await fixture.pass(0);
      assert.equal(mayStill(), true);
      if (happens === null) fixture.clock.nowMs += 6_000;
      fixture.run.happened(happens ?? { kind: "tick" });
      assert.equal(mayStill(), false);
    });

  test("tries a route again until it leads there", async () => {
    const fixture = new Fixture();
    let attempts = 0;
    fixture.lead = () => Promise.resolve((attempts += 1) < 4 ? { missing: "not yet" } : "verified");
    await fixture.pass(1_000);
    assert.deepEqual([attempts, fixture.outcome?.kind], [4, "switched"]);
  });

  test("leads a database once more right before a RESUME at the deadline, and only what is not led yet", async () => {
    const fixture = new Fixture();
    let led = 0;
    let isReachable = false;
    fixture.lead = () => {
      led += 1;
      return isReachable ? Promise.resolve("verified") : new Promise(() => {});
    };
    await fixture.pass(1_000);
    assert.deepEqual([fixture.run.state.kind, led], ["routing", 1]);
    isReachable = true;
    await fixture.run.leadLast(0);
    await fixture.clock.pass(1_000);
    assert.deepEqual([led, fixture.outcome], [2, { kind: "switched", node: "pg2" }]);
    await fixture.run.leadLast(0);
    assert.equal(led, 2);
  });

  test("closes an intent again that could not be closed", async () => {
    const fixture = new Fixture();
    let attempts = 0;
    fixture.close = () => ((attempts += 1) < 3 ? Promise.reject(new Error("disk full")) : Promise.resolve());
    await fixture.pass(2_000);
    assert.deepEqual([attempts, fixture.errors.length, fixture.outcome?.kind], [3, 2, "switched"]);
  });

  test("may pause only while the machine says so, at a time that is read anew", async () => {
    const fixture = new Fixture();
    fixture.preflight = () => new Promise(() => {});
    await fixture.pass(100);
    assert.equal(fixture.run.mayPause(), false);
  });

  for (const [title, breakIt, outcome] of [
    [
      "checks",
      (fixture: Fixture) => (fixture.preflight = () => Promise.reject(new Error("broken"))),
      { kind: "refused", reason: "the checks failed: internal error" },
    ],
    [
      "a safeguard",
      (fixture: Fixture) => (fixture.arm = () => Promise.reject(new Error("broken"))),
      { kind: "refused", reason: "intent: internal error" },
    ],
  ] as const)
    test(`an internal error in ${title} refuses it, and is reported`, async () => {
      const fixture = new Fixture();
      breakIt(fixture);
      await fixture.pass(100);
      assert.deepEqual(fixture.outcome, outcome);
      assert.ok(fixture.errors.length > 0);
      assert.equal(fixture.done.includes("pause"), false);
    });

  test("an internal error in the request leaves the outcome unknown until a primary shows", async () => {
    const fixture = new Fixture();
    fixture.request = () => Promise.reject(new Error("broken"));
    await fixture.pass(5_000);
    assert.equal(fixture.run.state.kind, "switching");
    fixture.primary = "pg2";
    fixture.run.clusterChanged();
    await fixture.clock.pass(500);
    assert.deepEqual(fixture.outcome, { kind: "switched", node: "pg2" });
  });
});
