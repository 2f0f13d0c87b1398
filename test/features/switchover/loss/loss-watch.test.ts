import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { Scope } from "../../../../src/core/feature/scope.ts";
import { type HoldingRun, LossWatch } from "../../../../src/features/switchover/loss/loss-watch.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { FakePgbouncer } from "../../../fake/fake-pgbouncer.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";
import { until } from "../../../fake/until.ts";

interface BegunRun {
  readonly leader: string;
  readonly unserved: string[];
  readonly end: (hasHeld: boolean) => void;
}

/** A watch over one pooler, the database of a leader, and the runs that it has begun. */
class Fixture {
  readonly pgbouncer: FakePgbouncer;
  readonly watch: LossWatch;
  readonly sockets: Socket[] = [];
  readonly begun: BegunRun[] = [];
  primary: string | null = "pg1";
  /** Whether the leader has stated its position since the loss. */
  servesAgain = false;
  mayBegin = true;
  hints = 0;
  readonly newPrimaries: string[] = [];

  private constructor(context: TestContext, pgbouncer: FakePgbouncer, port: number) {
    this.pgbouncer = pgbouncer;
    const pooler = poolerOf("pgb1", `127.0.0.1:${pgbouncer.console.port}`, { holdOnLossMs: 45_000 });
    const databases = pooler.databases.map((database) => ({ ...database, cluster: "demo" }));
    const config = configOf({ clusters: [clusterOf({})], poolers: [{ ...pooler, databases }] });
    const scope = new Scope({
      setTimer: (callback, delayMs) => {
        const timer = setTimeout(callback, delayMs);
        return () => clearTimeout(timer);
      },
      onProblem: (what, problem) => assert.fail(`${what}: ${problem}`),
    });
    this.watch = new LossWatch({
      config: () => config,
      now: () => performance.now(),
      scope,
      primary: () => this.primary,
      primarySince: (_, leader) => (this.primary !== leader || this.servesAgain ? this.primary : null),
      addressOf: () => ({ host: "127.0.0.1", port }),
      begin: (_, leader) => (this.mayBegin ? this.#begin(leader) : null),
      onNewPrimary: (_, node) => void this.newPrimaries.push(node),
      hint: () => {
        this.hints += 1;
      },
      onError: (error) => assert.fail(String(error)),
    });
    context.after(async () => {
      this.watch.stop();
      await scope.end();
    });
  }

  static async of(context: TestContext): Promise<Fixture> {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.once("data", () => void socket.write("N"));
    });
    const port = await listenDuringTest(context, server);
    context.after(() => sockets.forEach((socket) => socket.destroy()));
    const fixture = new Fixture(context, await FakePgbouncer.start(context), port);
    fixture.sockets.push(...sockets);
    fixture.watch.configure();
    await until("the connection to the database, and the console", () => {
      fixture.sockets.splice(0, Infinity, ...sockets);
      return sockets.some((socket) => socket.bytesWritten > 0) && fixture.pgbouncer.console.connections === 1;
    });
    return fixture;
  }

  /** The server ends all connections, as it does when a backend crashes. */
  crash(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  get looks(): number {
    return this.pgbouncer.console.commands.filter((command) => command === "SHOW SERVERS").length;
  }

  #begin(leader: string): HoldingRun {
    const unserved: string[] = [];
    let resolve: (hasHeld: boolean) => void = () => {};
    const ended = new Promise<boolean>((done) => (resolve = done));
    this.begun.push({
      leader,
      unserved,
      end: (hasHeld) => resolve(hasHeld),
    });
    return {
      unserved: ({ pooler, database }, waiting) => void unserved.push(`${pooler}/${database} ${waiting}`),
      ended,
    };
  }
}

describe("the watch for losses", () => {
  test("asks a pooler nothing in quiet times", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.pgbouncer.waiting = 5;
    for (let changes = 0; changes < 20; changes += 1) fixture.watch.clusterChanged("demo");
    await new Promise((resolve) => void setImmediate(resolve));
    assert.deepEqual(fixture.pgbouncer.console.commands, []);
    assert.deepEqual(fixture.begun, []);
  });

  test("makes a run ready as soon as the connection ends, and tells it of a pooler that refuses clients", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.pgbouncer.waiting = 2;
    fixture.crash();
    await until("a run", () => fixture.begun.length === 1);
    const [run] = fixture.begun;
    assert.deepEqual([run?.leader, fixture.hints], ["pg1", 1]);
    await until("the pooler", () => (run?.unserved.length ?? 0) > 0);
    assert.equal(run?.unserved[0], "pgb1/orders 2");
    assert.ok(fixture.looks >= 3, `${fixture.looks} looks`);
  });

  test("tells of no pooler that has clients waiting now and then", async (context) => {
    const fixture = await Fixture.of(context);
    let reads = 0;
    Object.defineProperty(fixture.pgbouncer, "waiting", { get: () => ((reads += 1) % 3 === 0 ? 0 : 1) });
    fixture.crash();
    await until("many looks", () => fixture.looks >= 12);
    assert.deepEqual(fixture.begun[0]?.unserved, []);
  });

  test("looks while no primary is accepted, and begins with the first pooler that refuses clients", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.primary = null;
    fixture.watch.clusterChanged("demo");
    await until("a look", () => fixture.looks >= 1);
    assert.equal(fixture.begun.length, 0);
    fixture.pgbouncer.waiting = 7;
    const run = await until("a run", () => fixture.begun.find(({ unserved }) => unserved.length > 0));
    assert.equal(run.leader, "pg1");
  });

  test("begins no hold after another one until a primary has been accepted since", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.pgbouncer.waiting = 2;
    fixture.crash();
    await until("the pooler", () => (fixture.begun[0]?.unserved.length ?? 0) > 0);
    fixture.begun[0]?.end(true);
    await until("the end of the looks", async () => {
      const before = fixture.looks;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return fixture.looks === before;
    });
    assert.equal(fixture.begun.length, 1);
    fixture.servesAgain = true;
    fixture.watch.clusterChanged("demo");
    fixture.primary = null;
    fixture.watch.clusterChanged("demo");
    await until("another run", () => fixture.begun.length === 2);
  });

  test("tells of another primary, and not of the same one again", async (context) => {
    const fixture = await Fixture.of(context);
    for (const primary of ["pg1", null, "pg1", null, "pg2", "pg2"]) {
      fixture.primary = primary;
      fixture.watch.clusterChanged("demo");
    }
    assert.deepEqual(fixture.newPrimaries, ["pg2"]);
  });

  test("ends with its configuration", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.watch.stop();
    await until("the end of the console", () => fixture.pgbouncer.console.connections === 0);
    fixture.crash();
    assert.deepEqual([fixture.begun, fixture.hints], [[], 0]);
  });
});
