import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { PgbouncerConsole } from "../../../../src/core/balancing/pgbouncer/console.ts";
import { LoginRetry } from "../../../../src/features/switchover/hands/login-retry.ts";
import { PauseHand, type PauseEvent } from "../../../../src/features/switchover/hands/pause-hand.ts";
import { pauseConsoleName, type PausingRun } from "../../../../src/features/switchover/hands/pause-console.ts";
import { type Resumed, resumeTarget } from "../../../../src/features/switchover/hands/resume-target.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { until } from "../../../fake/until.ts";

const run: PausingRun = { run: "r1", cluster: "orders", generation: 3 };

/** A hand, and what it told. */
class Fixture {
  readonly pgbouncer: FakePgbouncer;
  readonly hand: PauseHand;
  readonly told: PauseEvent[] = [];
  mayPause = true;
  lead = (): Promise<void> => Promise.resolve();
  areEarlierOver = false;

  constructor(pgbouncer: FakePgbouncer, pauseMs: number, by: PausingRun = run) {
    this.pgbouncer = pgbouncer;
    this.hand = new PauseHand({
      target: { by, database: "orders", console: pgbouncer.target },
      retry: new LoginRetry({ console: pgbouncer.target, before: undefined, limitMs: 2_000 }),
      limits: { commandMs: 2_000, pauseMs, pollMs: 5 },
      mayPause: () => this.mayPause,
      areEarlierOver: () => this.areEarlierOver,
      lead: () => this.lead(),
      now: () => performance.now(),
      onEvent: (event) => this.told.push(event),
    });
  }

  static async of(context: TestContext, pauseMs = 2_000): Promise<Fixture> {
    const fixture = new Fixture(await FakePgbouncer.start(context), pauseMs);
    context.after(() => fixture.hand.close());
    assert.equal(await fixture.hand.prepare(), null);
    return fixture;
  }

  async tells(kind: PauseEvent["kind"]): Promise<PauseEvent> {
    return until(`${kind}, told: ${JSON.stringify(this.told)}`, () => this.told.find((event) => event.kind === kind));
  }

  /** Repeats RESUME until it is verified: the first attempt may still see the console of PAUSE. */
  async resumes(): Promise<void> {
    await until("a verified RESUME", () => {
      this.hand.resume();
      return this.kinds.includes("resumed");
    });
  }

  get kinds(): readonly string[] {
    return this.told.map(({ kind }) => kind);
  }
}

/** A hand that goes on for a process that is gone, which had not paused the database when it was last heard of. */
async function adoptedOf(context: TestContext, isPaused = false): Promise<Fixture> {
  const fixture = new Fixture(await FakePgbouncer.start(context), 2_000);
  context.after(() => fixture.hand.close());
  fixture.pgbouncer.isPaused = isPaused;
  fixture.hand.adopt("watched");
  return fixture;
}

describe("a database that another process may have paused after a loss", () => {
  test("is looked at until it refuses its clients, and then paused and resumed", async (context) => {
    const fixture = await adoptedOf(context);
    const { hand, pgbouncer } = fixture;
    await fixture.tells("not_held");
    pgbouncer.waiting = 3;
    await fixture.tells("unserved");
    assert.deepEqual(pgbouncer.changes, [], "the machine decides");
    hand.pause();
    await fixture.tells("pause_answered");
    assert.deepEqual([pgbouncer.isPaused, hand.waiting], [true, 3]);
    assert.ok(pgbouncer.console.starts.some((start) => start.includes(pauseConsoleName(run))));
    hand.readPaused();
    await fixture.tells("paused_read");
    assert.ok((hand.heldMs ?? 0) > 0);
    pgbouncer.waiting = 0;
    pgbouncer.idleServers = 1;
    await fixture.resumes();
    assert.equal(pgbouncer.isPaused, false);
    await until("the old login retry", () => pgbouncer.settings.get("server_login_retry") === "1");
  });

  test("is not unserved with a server, nor without a client that waits", async (context) => {
    const fixture = await adoptedOf(context);
    const { pgbouncer } = fixture;
    await fixture.tells("not_held");
    const looks = (): number => pgbouncer.console.commands.filter((command) => command === "SHOW POOLS").length;
    await until("looks at an idle pool", () => looks() >= 2);
    pgbouncer.waiting = 1;
    pgbouncer.instead.set("SHOW SERVERS", [{ database: "orders", addr: "10.0.0.1", port: 5432, state: "active" }]);
    await until("looks at a pool with a server", () => looks() >= 5);
    assert.deepEqual(fixture.kinds, ["not_held"]);
  });

  test("is held without a PAUSE if the other one has paused it", async (context) => {
    const fixture = await adoptedOf(context, true);
    await until("a look", () => fixture.pgbouncer.console.commands.includes("SHOW DATABASES"));
    fixture.pgbouncer.isPaused = false;
    await fixture.tells("resumed_elsewhere");
    assert.deepEqual(fixture.kinds, ["resumed_elsewhere"]);
    assert.deepEqual(fixture.pgbouncer.changes, []);
  });

  test("is held by another process that finishes the run: nothing is sent, and it counts as paused", async (context) => {
    const fixture = await adoptedOf(context);
    await fixture.tells("not_held");
    fixture.pgbouncer.isPaused = true;
    fixture.hand.pause();
    await fixture.tells("pause_answered");
    assert.deepEqual(fixture.pgbouncer.changes, []);
    fixture.pgbouncer.isPaused = false;
    fixture.hand.readPaused();
    assert.deepEqual(await fixture.tells("paused_read"), { kind: "paused_read", isPaused: false });
  });

  for (const [title, prepare, problem] of [
    ["it is too late", (fixture: Fixture) => (fixture.mayPause = false), /too late/],
    [
      "somebody has paused all databases",
      ({ pgbouncer }: Fixture) => (pgbouncer.isHeld = true),
      /paused all databases/,
    ],
    ["PAUSE fails", ({ pgbouncer }: Fixture) => pgbouncer.instead.set("PAUSE orders", { error: "no" }), /no/],
  ] as const)
    test(`is not paused if ${title}; its RESUME is sent all the same`, async (context) => {
      const fixture = await adoptedOf(context);
      await fixture.tells("not_held");
      prepare(fixture);
      fixture.hand.pause();
      const told = await fixture.tells("pause_failed");
      assert.match("problem" in told ? told.problem : "", problem);
      fixture.pgbouncer.isHeld = false;
      fixture.pgbouncer.idleServers = 1;
      fixture.hand.resume();
      await until("RESUME", () => fixture.pgbouncer.console.commands.includes("RESUME orders"));
      const { settings } = fixture.pgbouncer;
      await until("the old login retry", () => settings.get("server_login_retry") === "1");
    });
});

describe("one database of a pooler", () => {
  test("is paused, read and resumed, on a console of its own for PAUSE", async (context) => {
    const fixture = await Fixture.of(context);
    const { hand, pgbouncer } = fixture;
    assert.equal(hand.heldMs, null);
    hand.pause();
    await fixture.tells("pause_answered");
    assert.ok(pgbouncer.console.starts.some((start) => start.includes(pauseConsoleName(run))));
    hand.readPaused();
    assert.deepEqual(await fixture.tells("paused_read"), { kind: "paused_read", isPaused: true });
    hand.resume();
    await fixture.resumes();
    assert.equal(pgbouncer.isPaused, false);
    assert.ok((hand.heldMs ?? 0) > 0);
    assert.equal(fixture.kinds.filter((kind) => kind === "resumed").length, 1);
  });

  test("is led before its RESUME is sent, once a console answers that did not", async (context) => {
    const fixture = await Fixture.of(context, 200);
    const { hand, pgbouncer } = fixture;
    const led: boolean[] = [];
    fixture.lead = () => {
      led.push(pgbouncer.isPaused);
      return Promise.resolve();
    };
    hand.pause();
    await fixture.tells("pause_answered");
    pgbouncer.instead.set("SHOW VERSION", "silence");
    hand.resume();
    await fixture.tells("not_resumed");
    assert.deepEqual([led, pgbouncer.isPaused], [[], true], "nothing is sent that may arrive later");
    pgbouncer.instead.clear();
    hand.resume();
    await until("RESUME", () => !pgbouncer.isPaused);
    assert.deepEqual(led, [true]);
  });

  test("is not paused while another run of the cluster has a console there, whichever came first", async (context) => {
    const { pgbouncer } = await Fixture.of(context);
    const two = new Fixture(pgbouncer, 2_000, { ...run, run: "r2" });
    context.after(() => two.hand.close());
    assert.match((await two.hand.prepare()) ?? "", /another switchover of orders \(r1\) has a console there/);
    assert.deepEqual(pgbouncer.changes, []);
  });

  test("of two runs that get ready at the same time, the later one waits until the other has given up", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    const [one, two] = ["r1", "r2"].map((name) => new Fixture(pgbouncer, 2_000, { ...run, run: name }));
    assert.ok(one !== undefined && two !== undefined);
    const earlier = await PgbouncerConsole.open(pgbouncer.target, 2_000, {
      name: pauseConsoleName({ ...run, run: "r0" }),
    });
    const later = await PgbouncerConsole.open(pgbouncer.target, 2_000, {
      name: pauseConsoleName({ ...run, run: "r9", generation: 4 }),
    });
    for (const { hand } of [one, two]) context.after(() => hand.close());
    const before = pgbouncer.console.commands.length;
    assert.match((await one.hand.prepare()) ?? "", /\(r9\) has a console there/, "the later one is named");
    assert.equal(
      pgbouncer.console.commands.slice(before).filter((command) => command === "SHOW CLIENTS").length,
      1,
      "and not waited for",
    );
    one.hand.close();
    later.close();
    await until("the end of consoles", () => pgbouncer.console.connections === 1);
    const preparing = two.hand.prepare();
    await until("a second look", () => {
      const looks = pgbouncer.console.commands.slice(before).filter((command) => command === "SHOW CLIENTS");
      return looks.length >= 3;
    });
    earlier.close();
    assert.equal(await preparing, null);
  });

  test("a run that is ready outlasts one that gets ready, whichever is the later one", async (context) => {
    for (const name of ["r0", "r9"]) {
      const fixture = await Fixture.of(context);
      const other = new Fixture(fixture.pgbouncer, 2_000, { ...run, run: name });
      const preparing = other.hand.prepare();
      fixture.hand.pause();
      assert.match((await preparing) ?? "", /\(r1\) has a console there/);
      other.hand.close();
      await fixture.tells("pause_answered");
      assert.equal(fixture.pgbouncer.isPaused, true);
    }
  });

  test("what it has paused it resumes, also while a later run has a console there that has paused nothing", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.hand.pause();
    await fixture.tells("pause_answered");
    fixture.hand.readPaused();
    await fixture.tells("paused_read");
    const name = pauseConsoleName({ ...run, run: "r4", generation: 4 });
    const later = await PgbouncerConsole.open(fixture.pgbouncer.target, 2_000, { name });
    context.after(() => later.close());
    await fixture.resumes();
    assert.equal(fixture.pgbouncer.isPaused, false);
  });

  test("who goes on for it resumes it once the later run has no console there any more", async (context) => {
    const fixture = new Fixture(await FakePgbouncer.start(context), 2_000);
    context.after(() => fixture.hand.close());
    const { pgbouncer, hand } = fixture;
    pgbouncer.isPaused = true;
    hand.adopt("held");
    const name = pauseConsoleName({ ...run, run: "r4", generation: 4 });
    const later = await PgbouncerConsole.open(pgbouncer.target, 2_000, { name });
    hand.resume();
    const told = await fixture.tells("not_resumed");
    assert.match("problem" in told ? told.problem : "", /a later switchover of the cluster has a console there/);
    assert.equal(pgbouncer.isPaused, true);
    later.close();
    await fixture.resumes();
    assert.equal(pgbouncer.isPaused, false);
  });

  test("is paused beside the console of an earlier run, if somebody has promised that it is over", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    const name = pauseConsoleName({ ...run, run: "r0", generation: 2 });
    const earlier = await PgbouncerConsole.open(pgbouncer.target, 2_000, { name });
    context.after(() => earlier.close());
    const fixture = new Fixture(pgbouncer, 2_000);
    context.after(() => fixture.hand.close());
    assert.match((await fixture.hand.prepare()) ?? "", /\(r0\)/);
    fixture.areEarlierOver = true;
    assert.equal(await fixture.hand.prepare(), null);
  });

  test("tells once that somebody else has resumed it while clients were held", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.hand.pause();
    await fixture.tells("pause_answered");
    fixture.hand.readPaused();
    await fixture.tells("paused_read");
    fixture.pgbouncer.isPaused = false;
    await fixture.tells("resumed_elsewhere");
    const heldMs = fixture.hand.heldMs;
    await until("a look", () => fixture.pgbouncer.console.commands.length > 0);
    assert.equal(fixture.hand.heldMs, heldMs);
    assert.equal(fixture.kinds.filter((kind) => kind === "resumed_elsewhere").length, 1);
  });

  test("is read as paused only when no transaction runs", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.pgbouncer.begin();
    fixture.hand.pause();
    await until("PAUSE", () => fixture.pgbouncer.isPaused);
    fixture.hand.readPaused();
    await until("SHOW POOLS", () => fixture.pgbouncer.console.commands.includes("SHOW POOLS"));
    assert.deepEqual(fixture.kinds, []);
    fixture.pgbouncer.end();
    assert.deepEqual(await fixture.tells("paused_read"), { kind: "paused_read", isPaused: true });
    await fixture.tells("pause_answered");
  });

  test("is read as not paused when somebody has resumed it", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.hand.pause();
    await fixture.tells("pause_answered");
    fixture.pgbouncer.isPaused = false;
    fixture.hand.readPaused();
    assert.deepEqual(await fixture.tells("paused_read"), { kind: "paused_read", isPaused: false });
  });

  for (const [title, prepare, problem] of [
    ["somebody else has paused", (pgbouncer: FakePgbouncer) => (pgbouncer.isPaused = true), /somebody else has paused/],
    ["a PAUSE of all databases holds", (pgbouncer: FakePgbouncer) => (pgbouncer.isHeld = true), /all databases/],
    [
      "a PgBouncer does not know",
      (pgbouncer: FakePgbouncer) =>
        pgbouncer.instead.set("SHOW DATABASES", [{ name: "other", paused: 0, disabled: 0 }]),
      /no such database/,
    ],
    [
      "the user may not pause",
      (pgbouncer: FakePgbouncer) => pgbouncer.instead.set("PAUSE pgbouncer", { error: "admin access needed" }),
      /admin_users/,
    ],
  ] as const)
    test(`is left alone where ${title}, also by RESUME`, async (context) => {
      const fixture = await Fixture.of(context);
      prepare(fixture.pgbouncer);
      fixture.hand.pause();
      const event = await fixture.tells("pause_withheld");
      assert.match("problem" in event ? event.problem : "", problem);
      fixture.hand.resume();
      await fixture.tells("resumed");
      assert.deepEqual(fixture.pgbouncer.changes, []);
    });

  test("is resumed for another process that has paused it, without a figure that is not known", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.pgbouncer.isPaused = true;
    fixture.hand.adopt("held");
    await fixture.resumes();
    assert.deepEqual([fixture.pgbouncer.isPaused, fixture.hand.heldMs], [false, null]);
  });

  test("is not paused when the time for it has passed meanwhile", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.mayPause = false;
    fixture.hand.pause();
    assert.deepEqual(await fixture.tells("pause_withheld"), { kind: "pause_withheld", problem: "it was too late" });
    assert.deepEqual(fixture.pgbouncer.changes, []);
  });

  test("is not paused any more after RESUME was wanted", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.hand.pause();
    fixture.hand.resume();
    await fixture.tells("resumed");
    await until("the end of its consoles", () => fixture.pgbouncer.console.shownClients().length === 0);
    assert.deepEqual(fixture.pgbouncer.changes, []);
    assert.deepEqual(fixture.kinds, ["resumed"]);
  });

  test("leaves no console open where the run ends while they are being opened", async (context) => {
    const fixture = new Fixture(await FakePgbouncer.start(context), 2_000);
    const preparing = fixture.hand.prepare();
    fixture.hand.close();
    assert.equal(await preparing, "the console was closed");
    await until("the end of its consoles", () => fixture.pgbouncer.console.connections === 0);
  });

  test("a PAUSE that waits for a transaction fails in time, and is resumed", async (context) => {
    const fixture = await Fixture.of(context, 50);
    fixture.pgbouncer.begin();
    fixture.hand.pause();
    const event = await fixture.tells("pause_failed");
    assert.match("problem" in event ? event.problem : "", /within 50 ms/);
    await fixture.resumes();
    assert.equal(fixture.pgbouncer.isPaused, false);
  });

  test("a pooler that is lost and comes back unpaused is told as restarted; one that stayed paused is not", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.hand.pause();
    await fixture.tells("pause_answered");
    fixture.pgbouncer.console.cut();
    await fixture.tells("console_lost");
    // Before PAUSE, and on the console after the loss.
    const looks = (): number =>
      fixture.pgbouncer.console.commands.filter((command) => command === "SHOW DATABASES").length;
    await until("a look at the database", () => looks() === 2);
    fixture.pgbouncer.isPaused = false;
    fixture.pgbouncer.console.cut();
    await fixture.tells("restarted");
    assert.deepEqual(fixture.kinds, ["pause_answered", "console_lost", "console_back", "console_lost", "restarted"]);
    const heldMs = fixture.hand.heldMs;
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(fixture.hand.heldMs, heldMs, "a PgBouncer that was restarted holds nobody");
  });
});

/** What is in the way of a RESUME; `null` if nothing is. */
function problemOf(done: Resumed): string | null {
  return done.kind === "unsure" ? done.problem : null;
}

describe("RESUME", () => {
  test("of an ended run does not let clients go on that a later one holds", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    pgbouncer.isPaused = true;
    const target = { by: run, database: "orders", console: pgbouncer.target };
    const later = { run: "r4", cluster: "orders", generation: 4 };
    const pause = await PgbouncerConsole.open(pgbouncer.target, 2_000, { name: pauseConsoleName(later) });
    assert.match(problemOf(await resumeTarget(target, 2_000)) ?? "", /may hold its clients/);
    assert.equal(pgbouncer.isPaused, true);
    assert.deepEqual(pgbouncer.changes, []);
    // An operator lifts everything, and a run of another cluster is none of this one.
    const other = await PgbouncerConsole.open(pgbouncer.target, 2_000, {
      name: pauseConsoleName({ ...later, cluster: "billing" }),
    });
    context.after(() => other.close());
    pause.close();
    await until("the end of the later run", async () => (await resumeTarget(target, 2_000)).kind === "resumed");
    assert.equal(pgbouncer.isPaused, false);
  });

  test("that an operator asks for lifts a PAUSE of all databases, and one of a later run", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    pgbouncer.isPaused = true;
    pgbouncer.isHeld = true;
    const later = await PgbouncerConsole.open(pgbouncer.target, 2_000, { name: pauseConsoleName(run) });
    context.after(() => later.close());
    const target = { by: null, database: "orders", console: pgbouncer.target };
    assert.equal((await resumeTarget(target, 2_000)).kind, "resumed");
    assert.deepEqual([pgbouncer.isPaused, pgbouncer.isHeld], [false, false]);
  });

  test("says whether nobody takes connections at the console", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    const target = {
      by: run,
      database: "orders",
      console: { ...pgbouncer.target, address: { host: "127.0.0.1", port: 1 } },
    };
    const done = await resumeTarget(target, 2_000);
    assert.ok(done.kind === "unsure" && done.isAbsent);
    pgbouncer.console.login = { kind: "silence" };
    const silent = await resumeTarget({ ...target, console: pgbouncer.target }, 50);
    assert.ok(silent.kind === "unsure" && !silent.isAbsent);
  });

  test("is verified only while no console of a PAUSE of the run is left", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    pgbouncer.isPaused = true;
    const target = { by: run, database: "orders", console: pgbouncer.target };
    const pause = await PgbouncerConsole.open(pgbouncer.target, 2_000, { name: pauseConsoleName(run) });
    assert.equal(problemOf(await resumeTarget(target, 2_000)), "a console that sent PAUSE is still connected");
    assert.equal(pgbouncer.isPaused, false, "it is resumed nevertheless");
    const other = await PgbouncerConsole.open(pgbouncer.target, 2_000, {
      name: pauseConsoleName({ ...run, run: "r0", generation: 2 }),
    });
    context.after(() => other.close());
    pause.close();
    await until("a verified RESUME", async () => (await resumeTarget(target, 2_000)).kind === "resumed");
  });

  test("is not verified while all databases are held, or the console does not answer", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    const target = { by: run, database: "orders", console: pgbouncer.target };
    pgbouncer.isHeld = true;
    assert.match(problemOf(await resumeTarget(target, 2_000)) ?? "", /all databases/);
    pgbouncer.isHeld = false;
    assert.equal((await resumeTarget(target, 2_000)).kind, "resumed");
    pgbouncer.instead.set("RESUME orders", "silence");
    assert.match(problemOf(await resumeTarget(target, 50)) ?? "", /within 50 ms/);
    pgbouncer.instead.set("RESUME orders", { error: "no" });
    pgbouncer.isPaused = true;
    assert.equal(problemOf(await resumeTarget(target, 2_000)), "no");
  });

  test("takes another console than one that a cut network keeps from opening", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    pgbouncer.isPaused = true;
    pgbouncer.console.login = { kind: "silence" };
    const resuming = resumeTarget({ by: run, database: "orders", console: pgbouncer.target }, 5_000);
    await until("the first attempt", () => pgbouncer.console.starts.length === 1);
    pgbouncer.console.login = { kind: "trust" };
    assert.equal((await resuming).kind, "resumed");
    assert.equal(pgbouncer.isPaused, false);
    await until("the end of both connections", () => pgbouncer.console.connections === 0);
  });
});
