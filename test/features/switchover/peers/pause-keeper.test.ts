import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { KeptPauses, PauseAnswer } from "../../../../src/features/switchover/peers/pause-answer.ts";
import type { PoolerConfig } from "../../../../src/core/config/model/config.ts";
import type { AdoptedRun } from "../../../../src/features/switchover/machine/advance.ts";
import {
  type FinishingRun,
  type KeptFinish,
  PauseKeeper,
} from "../../../../src/features/switchover/peers/pause-keeper.ts";
import { pauseConsoleName } from "../../../../src/features/switchover/hands/pause-console.ts";
import { PgbouncerConsole } from "../../../../src/core/balancing/pgbouncer/console.ts";
import { Scope } from "../../../../src/core/feature/scope.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { PausableConsole } from "../../../fake/pausable-console.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";
import { until } from "../../../fake/until.ts";

const caller = { from: "core1", only: null };
const staying = (): boolean => false;

class Fixture {
  readonly clock = new ManualClock();
  readonly changes: KeptPauses[] = [];
  poolers: readonly PoolerConfig[];
  readonly keeper: PauseKeeper;
  readonly scope = new Scope({
    setTimer: (run, delayMs) => this.clock.setTimer(run, delayMs),
    onProblem: (what, problem) => assert.fail(`${what}: ${problem}`),
  });
  readonly heard: string[] = [];
  readonly over: string[] = [];
  finish: (kept: KeptFinish, adopted: AdoptedRun) => FinishingRun | null = () => null;

  constructor(poolers: readonly PoolerConfig[]) {
    this.poolers = poolers;
    this.keeper = new PauseKeeper({
      log: silentLogger,
      now: () => this.clock.nowMs,
      scope: this.scope,
      poolers: () => this.poolers,
      name: "core2",
      onHeard: (run) => this.heard.push(run),
      onOver: (run) => this.over.push(run),
      finish: (kept, adopted) => this.finish(kept, adopted),
      onChange: (change) => this.changes.push(change),
    });
  }

  /** Announces databases, with a console that is open at each pooler meanwhile. */
  async announce(
    at: Readonly<Record<string, readonly [PausableConsole, readonly string[]]>>,
    parts: object = {},
  ): Promise<PauseAnswer> {
    const opened = await Promise.all(
      Object.entries(at).map(async ([pooler, [pgbouncer, databases]]) => ({
        console: await PgbouncerConsole.open(pgbouncer.target, 5_000),
        pooler,
        databases,
      })),
    );
    const poolers = opened.map(({ console: { name }, ...rest }) => ({ ...rest, console: name }));
    const body = { run: "r1", cluster: "orders", deadline_ms: 15_000, poolers, ...parts };
    const answer = await this.keeper.announce(body, caller, staying);
    for (const { console } of opened) console.close();
    return answer;
  }

  beat(open: readonly { readonly pooler: string; readonly databases: readonly string[] }[] | null): string {
    return this.keeper.beat("r1", open === null ? {} : { open }, null).kind;
  }

  /** Lets time pass until something is true of the consoles, which answer in real time. */
  passUntil(what: string, isTrue: () => boolean): Promise<unknown> {
    return until(what, async () => {
      await this.clock.pass(250);
      return isTrue();
    });
  }
}

/** Two PgBouncers, each with a database that is paused. */
async function pausedPair(context: TestContext): Promise<readonly [PausableConsole, PausableConsole, Fixture]> {
  const [one, two] = [new PausableConsole(["a", "b"]), new PausableConsole(["a"])];
  await one.listen(context);
  await two.listen(context);
  const fixture = new Fixture([one.pooler("pgb1", ["a", "b"]), two.pooler("pgb2", ["a"])]);
  context.after(() => fixture.scope.end());
  const answer = await fixture.announce({ pgb1: [one, ["a", "b"]], pgb2: [two, ["a"]] });
  assert.deepEqual(answer, { kind: "acknowledged" });
  for (const name of ["a", "b"]) one.paused.add(name);
  two.paused.add("a");
  return [one, two, fixture];
}

describe("what a peer acknowledges", () => {
  type Setup = (parts: {
    readonly pgbouncer: PausableConsole;
    readonly other: PausableConsole;
    readonly own: PoolerConfig;
  }) => readonly [PoolerConfig, kind: string, problem: RegExp];
  const rows: readonly (readonly [string, Setup])[] = [
    ["a pooler by another name", ({ own }) => [{ ...own, name: "other" }, "refused", /has no pooler pgb1$/]],
    [
      "a database that its configuration does not have",
      ({ pgbouncer }) => [pgbouncer.pooler("pgb1", ["b"]), "refused", /pgb1 has no database a of orders/],
    ],
    [
      "a database of another cluster",
      ({ own }) => [
        { ...own, databases: own.databases.map((database) => ({ ...database, cluster: "billing" })) },
        "refused",
        /no database a of orders/,
      ],
    ],
    ["a socket folder", () => [poolerOf("pgb1", "/run/pgbouncer", { databases: aOf() }), "refused", /socket folder/]],
    [
      "a pooler that does not answer",
      () => [poolerOf("pgb1", "127.0.0.1:1", { databases: aOf() }), "unreached", /refused \(ECONNREFUSED\)/],
    ],
    [
      "another PgBouncer of the same name",
      ({ other }) => [other.pooler("pgb1", ["a"]), "unreached", /reached another PgBouncer/],
    ],
    [
      "a PgBouncer without the database",
      ({ pgbouncer, own }) => {
        const { answer } = pgbouncer.console;
        pgbouncer.console.answer = (command) => (command === "SHOW DATABASES" ? [] : answer(command));
        return [own, "unreached", /SHOW DATABASES does not list a$/];
      },
    ],
    [
      "a console that may only read",
      ({ pgbouncer, own }) => {
        const { answer } = pgbouncer.console;
        pgbouncer.console.answer = (command) =>
          command === "PAUSE pgbouncer" ? { error: "admin access needed" } : answer(command);
        return [own, "unreached", /must be in admin_users$/];
      },
    ],
  ];
  const aOf = (): PoolerConfig["databases"] =>
    poolerOf("x", "127.0.0.1:1").databases.map((database) => ({ ...database, name: "a" }));
  for (const [title, setup] of rows)
    test(`not ${title}`, async (context) => {
      const pgbouncer = await new PausableConsole(["a"]).listen(context);
      const other = await new PausableConsole(["a"]).listen(context);
      const [pooler, kind, problem] = setup({ pgbouncer, other, own: pgbouncer.pooler("pgb1", ["a"]) });
      const fixture = new Fixture([pooler]);
      const answer = await fixture.announce({ pgb1: [pgbouncer, ["a"]] });
      assert.equal(answer.kind, kind);
      assert.match("problem" in answer ? answer.problem : "", problem);
      assert.equal(fixture.beat(null), "unknown_run");
      assert.equal(fixture.clock.timers, 0);
      assert.deepEqual([...pgbouncer.changes, ...other.changes], []);
    });

  test("not for a caller that has left, that ended the run meanwhile, or for another cluster", async (context) => {
    const pgbouncer = await new PausableConsole(["a"]).listen(context);
    const { keeper } = new Fixture([pgbouncer.pooler("pgb1", ["a"])]);
    const witness = await PgbouncerConsole.open(pgbouncer.target, 5_000);
    const poolers = [{ pooler: "pgb1", databases: ["a"], console: witness.name }];
    const body = { run: "r1", cluster: "orders", deadline_ms: 15_000, poolers };
    const left = await keeper.announce(body, caller, () => true);
    assert.deepEqual(left, { kind: "unreached", problem: "the caller has left" });
    const answer = keeper.announce(body, caller, staying);
    assert.equal((await keeper.announce(body, caller, staying)).kind, "refused");
    assert.equal(keeper.end("r1", "billing").kind, "unknown_run");
    assert.equal(keeper.end("r1", null).kind, "ended");
    assert.equal((await answer).kind, "unreached");
    assert.equal((await keeper.announce(body, { from: "x", only: "billing" }, staying)).kind, "refused");
    assert.equal(keeper.beat("r1", {}, null).kind, "unknown_run");
    witness.close();
  });
});

describe("a run of another rolecall", () => {
  test("is left alone while heartbeats come, and when it ends", async (context) => {
    const [one, two, fixture] = await pausedPair(context);
    for (let at = 0; at < 40; at++) {
      await fixture.clock.pass(250);
      assert.equal(fixture.beat(null), "held");
    }
    assert.deepEqual(fixture.keeper.held, [
      { cluster: "orders", state: "watched", databases: 3 },
      { cluster: "orders", state: "resuming", databases: 0 },
    ]);
    assert.equal(fixture.keeper.end("r1", null).kind, "ended");
    await fixture.clock.pass(60_000);
    assert.equal(fixture.beat(null), "unknown_run");
    assert.deepEqual([one.changes, two.changes, fixture.changes], [[], [], []]);
    assert.equal(fixture.clock.timers, 0);
  });

  test("is taken over 2 s after the last heartbeat, told so, and resumed until nothing is paused", async (context) => {
    const [one, two, fixture] = await pausedPair(context);
    await fixture.clock.pass(1_000);
    assert.equal(
      fixture.beat([
        { pooler: "pgb1", databases: ["a"] },
        { pooler: "pgb2", databases: ["a"] },
      ]),
      "held",
    );
    two.resumeAnswer = { error: "not now" };
    await fixture.clock.pass(1_750);
    assert.deepEqual(fixture.changes, []);
    await fixture.clock.pass(250);
    const taken = { cause: "silence", run: "r1", cluster: "orders", from: "core1", databases: ["pgb1/a", "pgb2/a"] };
    assert.deepEqual(fixture.changes, [{ kind: "taken_over", ...taken }]);
    assert.deepEqual(fixture.keeper.beat("r1", {}, null), { kind: "taken_over", by: "core2" });
    await fixture.passUntil("several attempts", () => two.changes.length > 2 && !one.paused.has("a"));
    assert.deepEqual(one.changes, ["RESUME a"], "once where it was verified");
    assert.ok(one.paused.has("b"), "what was closed before is not touched");
    assert.deepEqual(fixture.keeper.held[1], { cluster: "orders", state: "resuming", databases: 1 });
    two.resumeAnswer = null;
    await fixture.passUntil("the end", () => fixture.changes.length === 2);
    assert.deepEqual(fixture.changes[1], { kind: "lifted", ...taken });
    assert.equal(two.paused.size, 0);
    assert.equal(fixture.beat(null), "taken_over", "it is remembered");
  });

  test("is taken over at its deadline, although heartbeats come", async (context) => {
    const [one, , fixture] = await pausedPair(context);
    // Its guardian has the same deadline, and comes first.
    for (let at = 0; at < 64; at++) {
      assert.equal(fixture.beat(null), "held");
      await fixture.clock.pass(250);
    }
    assert.equal(fixture.beat(null), "taken_over");
    assert.equal(fixture.changes[0]?.cause, "deadline");
    await fixture.passUntil("RESUME", () => one.paused.size === 0);
  });

  test("is resumed again while a console that sent PAUSE is left", async (context) => {
    const [one, , fixture] = await pausedPair(context);
    one.otherConsoles.push(pauseConsoleName({ run: "r1", cluster: "orders", generation: 0 }));
    await fixture.clock.pass(2_000);
    await fixture.passUntil("RESUME", () => one.paused.size === 0);
    one.paused.add("a");
    await fixture.passUntil("RESUME of the PAUSE that came late", () => one.paused.size === 0);
    one.otherConsoles.pop();
    await fixture.passUntil("the end", () => fixture.changes.at(-1)?.kind === "lifted");
  });

  test("is resumed where it was announced, whatever is configured since", async (context) => {
    const [one, two, fixture] = await pausedPair(context);
    fixture.poolers = [];
    await fixture.clock.pass(2_000);
    await fixture.passUntil("RESUME", () => one.paused.size === 0 && two.paused.size === 0);
  });

  test("is let go where the other rolecall has resumed it since, or has ended", async (context) => {
    const [one, two, fixture] = await pausedPair(context);
    for (const pgbouncer of [one, two]) pgbouncer.resumeAnswer = { error: "not now" };
    await fixture.clock.pass(2_000);
    await fixture.passUntil("attempts", () => one.changes.length > 0 && two.changes.length > 0);
    assert.equal(fixture.beat([{ pooler: "pgb2", databases: ["a"] }]), "taken_over");
    await fixture.passUntil("an attempt", () => two.changes.length > 3);
    const before = one.changes.length;
    await fixture.passUntil("more attempts", () => two.changes.length > 6);
    assert.equal(one.changes.length, before);
    fixture.keeper.end("r1", null);
    await until("the end of every console", () => two.console.connections === 0);
    const last = two.changes.length;
    await fixture.clock.pass(5_000);
    assert.equal(two.changes.length, last);
  });

  test("is given up when this process stops", async (context) => {
    const [one, , fixture] = await pausedPair(context);
    await fixture.scope.end();
    await fixture.clock.pass(60_000);
    assert.equal(fixture.beat(null), "unknown_run");
    assert.deepEqual(one.changes, []);
    assert.equal((await fixture.announce({ pgb1: [one, ["a"]] })).kind, "unreached");
  });
});

test("four runs of a cluster may be open, and 64 are remembered", async (context) => {
  const pgbouncer = await new PausableConsole(["a"]).listen(context);
  const fixture = new Fixture([pgbouncer.pooler("pgb1", ["a"])]);
  context.after(() => fixture.scope.end());
  const announce = (run: string): Promise<PauseAnswer> => fixture.announce({ pgb1: [pgbouncer, ["a"]] }, { run });
  const kindOf = (run: string): string => fixture.keeper.beat(run, {}, null).kind;
  for (let at = 0; at < 64; at++) {
    assert.equal((await announce(`run${at}`)).kind, "acknowledged");
    if (at % 4 < 3) continue;
    const problem = "4 runs of orders are watched already";
    assert.deepEqual(await announce("more"), { kind: "unreached", problem });
    await fixture.clock.pass(2_000);
    const isLifted = (): boolean => fixture.changes.filter(({ kind }) => kind === "lifted").length === at + 1;
    await fixture.passUntil("the end of each", isLifted);
  }
  assert.equal(kindOf("run0"), "taken_over");
  assert.equal((await announce("more")).kind, "acknowledged");
  assert.deepEqual(["run0", "run1", "more"].map(kindOf), ["unknown_run", "taken_over", "held"]);
  fixture.keeper.end("more", null);
  await until("the end of every console", () => pgbouncer.console.connections === 0);
});
