/** Seamless switchovers of a whole process: simulated nodes, PgBouncers that only know PAUSE and RESUME. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { writtenIntents } from "../../src/features/switchover/intent/pause-intent.ts";
import type { RunDocument } from "../../src/features/switchover/run/run-document.ts";
import { FakePgbouncer } from "../fake/fake-pgbouncer.ts";
import { gatewayFixture, type GatewayFixture } from "../fake/gateway-fixture.ts";
import { sendRequest } from "../fake/http-request.ts";
import { poolerOf } from "../fake/pooler-setup.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";

interface Answer {
  readonly status: number;
  readonly document: Readonly<Record<string, unknown>>;
}

class Fixture {
  readonly gateway: GatewayFixture;
  readonly poolers: readonly FakePgbouncer[];
  readonly intents: string;

  readonly #headers: Readonly<Record<string, string>>;

  private constructor(gateway: GatewayFixture, poolers: readonly FakePgbouncer[], files: Files) {
    this.gateway = gateway;
    this.poolers = poolers;
    this.intents = files.intents;
    this.#headers = { authorization: `Bearer ${files.token}`, "content-type": "application/json" };
  }

  /** @param before prepares the PgBouncers and the file of intents before the process starts */
  static async of(
    context: TestContext,
    { pauseLimitMs = 3_000, switchoverMs = 60, before = () => {} }: FixtureOptions = {},
  ): Promise<Fixture> {
    const poolers = [await FakePgbouncer.start(context), await FakePgbouncer.start(context)];
    const folder = temporaryFolder("seamless");
    const [stateFile, tokenFile] = [join(folder, "state.json"), join(folder, "token")];
    const files = { intents: `${stateFile}.pauses`, token: "a-token-of-this-test" };
    writeFileSync(tokenFile, files.token, { mode: 0o600 });
    before(poolers, files.intents);
    const gateway = await gatewayFixture({
      simulator: { switchoverMs },
      listener: { dialect: "admin" },
      access: { auth: { for: "unsafe", basic: [], bearer: [tokenFile], certificate: false } },
      config: {
        stateFile,
        poolers: poolers.map(({ console: { port } }, at) => {
          const pooler = poolerOf(`pgb${at + 1}`, `127.0.0.1:${port}`, { pauseLimitMs });
          return { ...pooler, databases: pooler.databases.map((database) => ({ ...database, cluster: "demo" })) };
        }),
      },
    });
    context.after(() => gateway.close());
    return new Fixture(gateway, poolers, files);
  }

  get paused(): readonly boolean[] {
    return this.poolers.map(({ isPaused }) => isPaused);
  }

  /** Calls a path below `/clusters/demo/switchover`. */
  async call(path: string, body: object | null): Promise<Answer> {
    const parts = body === null ? {} : { method: "POST", headers: this.#headers, body: JSON.stringify(body) };
    const { status, body: text } = await this.gateway.request(`/clusters/demo/switchover${path}`, parts);
    return { status, document: JSON.parse(text) as Answer["document"] };
  }

  /** @returns the name of the run */
  async begin(body: object = {}, query = ""): Promise<string> {
    const { status, document } = await this.call(query, { seamless: true, unguarded: true, route_wait: "0s", ...body });
    assert.equal(status, 202, JSON.stringify(document));
    return String(document["run"]);
  }

  async run(): Promise<RunDocument> {
    return (await this.call("/run", null)).document as unknown as RunDocument;
  }

  async state(wanted: string): Promise<RunDocument> {
    return until({ what: `the state ${wanted}`, seconds: 30 }, async () => {
      const run = await this.run();
      return run.state === wanted ? run : undefined;
    });
  }

  /** The intents on the disk. */
  get left(): readonly unknown[] {
    if (!existsSync(this.intents)) return [];
    return (JSON.parse(readFileSync(this.intents, "utf8")) as { readonly intents: readonly unknown[] }).intents;
  }
}

interface Files {
  readonly intents: string;
  readonly token: string;
}

interface FixtureOptions {
  readonly pauseLimitMs?: number;
  readonly switchoverMs?: number;
  readonly before?: (poolers: readonly FakePgbouncer[], intents: string) => void;
}

function stepsOf({ steps }: RunDocument): readonly string[] {
  return steps.map(({ step }) => step).filter((step) => step !== "note");
}

describe("a seamless switchover", { timeout: 120_000 }, () => {
  test("holds clients while another node becomes the primary, and lets them go on there", async (context) => {
    const fixture = await Fixture.of(context);
    assert.equal((await fixture.call("/run", null)).status, 404);
    await fixture.begin({ candidate: "pg2" });
    const run = await fixture.state("ended");
    assert.deepEqual(run.outcome, { kind: "switched", node: "pg2" });
    const answered = stepsOf(run).filter((step) => step !== "accepted");
    assert.deepEqual(
      answered,
      ["checked", "armed", "paused", "requested", "writable", "routed", "resuming", "resumed"],
      JSON.stringify(run.steps),
    );
    assert.ok(run.targets.every(({ held_ms: heldMs }) => (heldMs ?? 0) > 0));
    assert.ok(run.preflight.length > 5 && run.preflight.every(({ level }) => level !== "error"));
    for (const { changes } of fixture.poolers) {
      assert.equal(changes[0], "PAUSE orders");
      assert.ok(changes.slice(1).every((command) => command === "RESUME orders") && changes.length > 1);
    }
    assert.deepEqual(fixture.paused, [false, false]);
    assert.deepEqual(fixture.left, []);
    const events = await sendRequest(`${fixture.gateway.adminUrl}/events`);
    assert.match(events.body, /switchover_ended.*pg2 is the primary, and clients go on there; clients waited up to/s);
    await until("the end of all consoles", () => fixture.poolers.every(({ console }) => console.connections === 0));
  });

  test("as a dry run only checks", async (context) => {
    const fixture = await Fixture.of(context);
    await fixture.begin({ candidate: "pg2" }, "?dry_run=1");
    const run = await fixture.state("ended");
    assert.deepEqual([run.outcome, run.dry_run], [{ kind: "dry_run" }, true]);
    assert.deepEqual(
      fixture.poolers.map(({ changes }) => changes),
      [[], []],
    );
  });

  test("does not wait for dry runs, and each of them can be followed to its end", async (context) => {
    const fixture = await Fixture.of(context);
    const dryRuns = [
      await fixture.begin({ candidate: "pg2" }, "?dry_run=1"),
      await fixture.begin({ candidate: "pg3" }, "?dry_run=1"),
      await fixture.begin({ candidate: "pg2" }, "?dry_run=1"),
      await fixture.begin({ candidate: "pg2" }, "?dry_run=1"),
    ];
    const more = await fixture.call("?dry_run=1", { seamless: true });
    assert.deepEqual([more.status, more.document["error"]], [409, "checking"]);
    assert.equal((await fixture.call("", null)).document["running"], null);
    const run = await fixture.begin({ candidate: "pg3" });
    assert.equal((await fixture.call("", null)).document["running"], run);
    const second = await fixture.call("?dry_run=1", { seamless: true });
    assert.deepEqual([second.status, second.document["error"]], [409, "running"]);
    const ends = [...dryRuns, run].map((name) =>
      until({ what: `the end of ${name}`, seconds: 30 }, async () => {
        const { document } = await fixture.call(`/run?run=${name}`, null);
        return document["state"] === "ended" ? [document["candidate"], document["outcome"]] : undefined;
      }),
    );
    const checked = { kind: "dry_run" };
    assert.deepEqual(await Promise.all(ends), [
      ["pg2", checked],
      ["pg3", checked],
      ["pg2", checked],
      ["pg2", checked],
      ["pg3", { kind: "switched", node: "pg3" }],
    ]);
    assert.equal((await fixture.call("/run?run=none", null)).status, 404);
    assert.equal((await fixture.call("/run?name=none", null)).status, 400);
  });

  test("is refused where somebody has paused a database, and resumes nothing", async (context) => {
    const fixture = await Fixture.of(context);
    const [, second] = fixture.poolers;
    assert.ok(second !== undefined);
    second.isPaused = true;
    await fixture.begin({ candidate: "pg2" });
    const run = await fixture.state("ended");
    assert.equal(run.outcome?.kind, "refused");
    assert.match(run.text ?? "", /pgb2\/orders.*Nothing was changed/);
    assert.deepEqual(fixture.paused, [false, true]);
  });

  test("stops where a transaction does not end within pause_limit, and a second one is 409 meanwhile", async (context) => {
    const fixture = await Fixture.of(context, { pauseLimitMs: 500 });
    const [, second] = fixture.poolers;
    second?.begin();
    await fixture.begin({ candidate: "pg2" });
    const { status, document } = await fixture.call("", { seamless: true });
    assert.deepEqual([status, document["error"]], [409, "running"]);
    const run = await fixture.state("ended");
    assert.deepEqual(run.outcome, {
      kind: "aborted",
      reason: "PAUSE of pgb2/orders took longer than 0.5 s (pause_limit)",
    });
    assert.deepEqual(fixture.paused, [false, false]);
    assert.deepEqual(fixture.left, []);
  });

  test("ends with a RESUME when the process stops before the request", async (context) => {
    const fixture = await Fixture.of(context);
    fixture.poolers[0]?.begin();
    await fixture.begin({ candidate: "pg2" });
    await until("a PAUSE", () => fixture.paused.includes(true));
    assert.equal(fixture.left.length, 1);
    await fixture.gateway.app.stop({ drains: false });
    assert.deepEqual(fixture.paused, [false, false]);
    assert.deepEqual(fixture.left, []);
  });

  test("of an earlier process is resumed at the start, where its intent is still open", async (context) => {
    const fixture = await Fixture.of(context, {
      before: ([first, second], intents) => {
        assert.ok(first !== undefined && second !== undefined);
        first.isPaused = true;
        second.isPaused = true;
        const targets = [{ pooler: "pgb1", database: "orders", console: first.target }];
        writeFileSync(
          intents,
          writtenIntents({
            intents: [{ run: "r0", cluster: "demo", deadlineWallMs: 0, targets, finish: null }],
            lowered: [],
          }),
        );
      },
    });
    await until("RESUME", () => fixture.paused[0] === false);
    await until("the end of the intent", () => fixture.left.length === 0);
    assert.deepEqual(fixture.poolers[1]?.changes, [], "who else has paused it, resumes it");
    assert.deepEqual((await fixture.call("/resume", {})).document, {
      resumed: ["pgb1/orders", "pgb2/orders"],
      problems: [],
    });
    assert.deepEqual(fixture.paused, [false, false]);
  });

  test("whose intents cannot be read is named until somebody resumes it", async (context) => {
    const fixture = await Fixture.of(context, {
      before: ([first], intents) => {
        assert.ok(first !== undefined);
        first.isPaused = true;
        writeFileSync(intents, "{");
      },
    });
    const paused = async (): Promise<string | undefined> =>
      /rolecall_paused_databases\{cluster="demo"\} (\d+)/.exec(
        (await sendRequest(`${fixture.gateway.adminUrl}/metrics`)).body,
      )?.[1];
    await until("the metric", async () => (await paused()) === "1");
    const named = fixture.gateway.logRecords.flatMap(({ databases }) => (databases === undefined ? [] : [databases]));
    assert.deepEqual(named, [["pgb1/orders"]]);
    assert.deepEqual(fixture.poolers[0]?.changes, [], "it may be an operator's pause");
    await fixture.call("/resume", {});
    assert.deepEqual(fixture.paused, [false, false]);
  });

  test("begins although an earlier one still looks for a primary, and ends that one", async (context) => {
    const fixture = await Fixture.of(context, { switchoverMs: 4_000 });
    const first = await fixture.begin({ candidate: "pg2", deadline: "1s" });
    await fixture.state("following");
    assert.equal((await fixture.call("", null)).document["running"], null);
    const second = await fixture.begin({ candidate: "pg3" });
    const { document } = await fixture.call(`/run?run=${first}`, null);
    assert.deepEqual([document["state"], document["outcome"]], ["ended", { kind: "no_primary" }]);
    assert.notEqual(second, first);
    await fixture.state("ended");
  });

  test("is 400 for what cannot be read", async (context) => {
    const fixture = await Fixture.of(context);
    for (const [body, allowed] of [
      [{ candidate: "pg9" }, /candidate must be one of pg1, pg2, pg3, got pg9/],
      [{ leader: "pg1", candidate: "pg1" }, /candidate must be another node than the leader, got pg1/],
      [{ deadline: "1h" }, /deadline must be a duration from 1s to 5min, got 1h/],
      [{ route_wait: 5 }, /route_wait must be a duration up to 1min, got 5/],
      [{ unguarded: "yes" }, /unguarded must be true or false, got yes/],
      [{ scheduled_at: "2030-01-01T00:00:00Z" }, /one of the keys seamless, leader.*got scheduled_at/],
    ] as const) {
      const { status, document } = await fixture.call("", { seamless: true, ...body });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(String(document["message"]), allowed);
    }
  });
});
