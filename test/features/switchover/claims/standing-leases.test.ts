import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import {
  readStanding,
  StandingLeases,
  writtenStanding,
} from "../../../../src/features/switchover/claims/standing-leases.ts";
import { fleetLeases } from "../../../../src/features/switchover/claims/fleet-grantor.ts";
import { FleetKeys } from "../../../fake/fleet-keys.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";

interface Process {
  readonly leases: StandingLeases;
  /** Whether it runs. */
  isAlive: boolean;
  isHolding: boolean;
  readonly end: () => void;
}

/** Rolecalls that are peers of each other, over a network that is cut between pairs. */
class Peers {
  readonly clock = new ManualClock();
  readonly processes = new Map<string, Process>();
  readonly cuts = new Set<string>();

  start(name: string, peers: readonly string[], clusters: readonly string[] = ["orders"]): Process {
    const abort = new AbortController();
    const process: Process = {
      isAlive: true,
      isHolding: false,
      end: () => {
        process.isAlive = false;
        abort.abort();
      },
      leases: new StandingLeases({
        log: silentLogger,
        self: { instance: name, by: `core-${name}` },
        now: () => this.clock.nowMs,
        scope: {
          signal: abort.signal,
          wait: (ms) => new Promise((resolve) => void this.clock.setTimer(resolve, ms)),
        },
        clusters: () => clusters,
        grantors: () =>
          peers.map((peer) => ({
            isStore: false,
            ask: async (cluster, { instance, by, isOwn }) => {
              const other = this.#reached(name, peer);
              return (
                other?.leases.answer({ cluster, instance, by, state: isOwn ? "own" : "new" }) ?? { kind: "silent" }
              );
            },
            give: (cluster, holder) => {
              this.#reached(name, peer)?.leases.answer({ cluster, ...holder, state: "given" });
            },
          })),
        isHolding: () => process.isHolding,
      }),
    };
    this.processes.set(name, process);
    void process.leases.run();
    return process;
  }

  /** What has begun settles first, and sets its timers. */
  async pass(ms: number): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
    await this.clock.pass(ms);
  }

  cut(one: string, other: string): void {
    this.cuts.add([one, other].toSorted().join());
  }

  heal(): void {
    this.cuts.clear();
  }

  /** Who of those that run may hold. */
  get holders(): string {
    return [...this.processes]
      .filter(([, { isAlive, leases }]) => isAlive && leases.stateOf("orders").kind === "own")
      .map(([name]) => name)
      .join();
  }

  #reached(from: string, to: string): Process | null {
    const process = this.processes.get(to);
    const isCut = this.cuts.has([from, to].toSorted().join());
    return process === undefined || !process.isAlive || isCut ? null : process;
  }
}

describe("which of several rolecalls holds clients", () => {
  test("one without peers and without a fleet holds them, and waits for nobody", () => {
    const peers = new Peers();
    const alone = peers.start("a", []);
    assert.equal(alone.leases.stateOf("orders").kind, "own");
  });

  test("of two that start at the same time one holds", async () => {
    const peers = new Peers();
    peers.start("b", ["a"]);
    peers.start("a", ["b"]);
    await peers.pass(5_000);
    assert.equal(peers.holders.length, 1);
  });

  test("one that starts later takes nothing away", async () => {
    const peers = new Peers();
    peers.start("b", ["a"]);
    await peers.pass(5_000);
    peers.start("a", ["b"]);
    await peers.pass(60_000);
    assert.equal(peers.holders, "b");
  });

  test("a peer that falls silent ends nothing; the other takes over within 8 s of the holder's death", async () => {
    const peers = new Peers();
    const a = peers.start("a", ["b"]);
    await peers.pass(3_000);
    const b = peers.start("b", ["a"]);
    await peers.pass(3_000);
    assert.equal(peers.holders, "a");
    b.end();
    await peers.pass(120_000);
    assert.equal(peers.holders, "a");
    peers.start("b", ["a"]);
    await peers.pass(3_000);
    assert.equal(peers.holders, "a");
    a.end();
    await peers.pass(3_000);
    assert.equal(peers.holders, "", "it may only be slow");
    await peers.pass(5_001);
    assert.equal(peers.holders, "b");
  });

  test("one that stops gives it back: the other holds with its next question", async () => {
    const peers = new Peers();
    const a = peers.start("a", ["b"]);
    await peers.pass(3_000);
    peers.start("b", ["a"]);
    await peers.pass(3_000);
    a.leases.stop();
    a.end();
    await peers.pass(2_000);
    assert.equal(peers.holders, "b");
  });

  test("two that could not hear each other agree again; one that holds clients meanwhile keeps it", async () => {
    const peers = new Peers();
    peers.start("a", ["b"]);
    const b = peers.start("b", ["a"]);
    peers.cut("a", "b");
    await peers.pass(20_000);
    assert.equal(peers.holders, "a,b", "the pooler itself keeps both from pausing at once");
    peers.heal();
    await peers.pass(4_000);
    assert.equal(peers.holders, "a");
    peers.cut("a", "b");
    await peers.pass(20_000);
    b.isHolding = true;
    peers.heal();
    await peers.pass(4_000);
    assert.equal(peers.holders, "b");
  });

  test("whatever happens, exactly one holds once all that run have heard each other for 12 s", async () => {
    const names = ["a", "b", "c"];
    const act = fc.oneof(
      fc.record({ kind: fc.constant("cut"), one: fc.constantFrom(...names), other: fc.constantFrom(...names) }),
      fc.record({ kind: fc.constant("restart"), one: fc.constantFrom(...names) }),
      fc.record({ kind: fc.constant("kill"), one: fc.constantFrom(...names) }),
      fc.record({ kind: fc.constant("heal") }),
    );
    const step = fc.tuple(fc.integer({ min: 0, max: 9_000 }), act);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const peers = new Peers();
        const start = (name: string): Process =>
          peers.start(
            name,
            names.filter((other) => other !== name),
          );
        for (const name of names) start(name);
        for (const [ms, done] of steps) {
          await peers.pass(ms);
          if (done.kind === "heal") peers.heal();
          else if ("other" in done) peers.cut(done.one, done.other);
          else if ("one" in done) {
            peers.processes.get(done.one)?.end();
            if (done.kind === "restart") start(done.one);
          }
        }
        peers.heal();
        const areAlive = [...peers.processes.values()].some(({ isAlive }) => isAlive);
        await peers.pass(12_000);
        assert.equal(peers.holders.split(",").filter((name) => name !== "").length, areAlive ? 1 : 0, peers.holders);
      }),
      { numRuns: 200, seed: 58 },
    );
  });

  test("of what is not held here nothing is remembered", () => {
    const peers = new Peers();
    const a = peers.start("a", [], []);
    const said = { cluster: "orders", instance: "b", by: "core-b", state: "own" } as const;
    assert.deepEqual(a.leases.answer(said), { kind: "granted" });
    assert.deepEqual(readStanding(JSON.parse(writtenStanding(said))), said);
    assert.equal(readStanding({ run: "a" }), null);
  });
});

describe("in a fleet", () => {
  test("the key of the store says who holds; it ends with its member", async () => {
    const clock = new ManualClock();
    const keys = new FleetKeys(clock, 5_000);
    const processOf = (name: string): { readonly leases: StandingLeases; readonly end: () => Promise<void> } => {
      const store = keys.store();
      store.start(
        { key: `members/${name}`, value: (lease) => lease },
        { onAll: () => {}, onChange: () => {}, onPhase: () => {} },
      );
      const abort = new AbortController();
      const leases = new StandingLeases({
        log: silentLogger,
        self: { instance: name, by: name },
        now: () => clock.nowMs,
        scope: { signal: abort.signal, wait: (ms) => new Promise((resolve) => void clock.setTimer(resolve, ms)) },
        clusters: () => ["orders"],
        grantors: () => [
          fleetLeases({
            claimRun: () => Promise.reject(new Error("not asked")),
            releaseRun: () => Promise.resolve(),
            claimHold: (cluster, value) => store.claimOrRead(`holds/${cluster}`, value),
            releaseHold: async (cluster, value) => void (await store.release(`holds/${cluster}`, value)),
          }),
        ],
        isHolding: () => false,
      });
      return {
        leases,
        end: async () => {
          abort.abort();
          await store.stop();
        },
      };
    };
    const [a, b] = [processOf("a"), processOf("b")];
    await clock.pass(500);
    void a.leases.run();
    await new Promise((resolve) => void setImmediate(resolve));
    await clock.pass(500);
    void b.leases.run();
    await new Promise((resolve) => void setImmediate(resolve));
    await clock.pass(30_000);
    const said = (): readonly string[] => [a, b].map(({ leases }) => leases.stateOf("orders").kind);
    assert.deepEqual(said(), ["own", "theirs"]);
    await a.end();
    await clock.pass(9_000);
    assert.equal(said()[1], "own");
  });
});
