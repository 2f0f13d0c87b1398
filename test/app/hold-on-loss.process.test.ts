/** Clients that a whole process holds after the loss of a primary: simulated nodes, PgBouncers that know what it asks. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { PoolerConfig } from "../../src/core/config/model/config.ts";
import { runText } from "../fake/command-line.ts";
import { FakePgbouncer } from "../fake/fake-pgbouncer.ts";
import { gatewayFixture, type GatewayFixture } from "../fake/gateway-fixture.ts";
import { sendRequest } from "../fake/http-request.ts";
import { poolerOf } from "../fake/pooler-setup.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";

interface Fixture {
  readonly gateway: GatewayFixture;
  readonly poolers: readonly [FakePgbouncer, FakePgbouncer];
  readonly intents: string;
  readonly events: (kind: string) => readonly Readonly<Record<string, unknown>>[];
}

async function fixtureOf(context: TestContext, keys: Partial<PoolerConfig> = {}): Promise<Fixture> {
  const poolers = [await FakePgbouncer.start(context), await FakePgbouncer.start(context)] as const;
  const stateFile = join(temporaryFolder("hold"), "state.json");
  const gateway = await gatewayFixture({
    // A leader that dies is replaced after the ttl.
    simulator: { ttlMs: 2_000, loopWaitMs: 200, retryTimeoutMs: 200, switchoverMs: 60 },
    listener: { dialect: "admin" },
    config: {
      stateFile,
      poolers: poolers.map(({ console: { port } }, at) => {
        const pooler = poolerOf(`pgb${at + 1}`, `127.0.0.1:${port}`, { holdOnLossMs: 45_000, ...keys });
        return { ...pooler, databases: pooler.databases.map((database) => ({ ...database, cluster: "demo" })) };
      }),
    },
  });
  context.after(() => gateway.close());
  return {
    gateway,
    poolers,
    intents: `${stateFile}.pauses`,
    events: (kind) => gateway.logRecords.filter(({ event }) => event === kind),
  };
}

function leftIn(file: string): unknown {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { readonly intents: unknown }).intents : [];
}

const lost = { seconds: 30 };

/** The document of the run that began last. */
async function runOf({ adminUrl }: GatewayFixture): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await sendRequest(`${adminUrl}/clusters/demo/switchover/run`);
  return JSON.parse(body) as Readonly<Record<string, unknown>>;
}

const phasesOf = ({ targets }: Readonly<Record<string, unknown>>): readonly string[] =>
  (targets as readonly { readonly phase: string }[]).map(({ phase }) => phase);

const stepsOf = ({ steps }: Readonly<Record<string, unknown>>): readonly string[] =>
  (steps as readonly { readonly step: string }[]).map(({ step }) => step);

describe("clients of a lost primary", () => {
  test("wait in the pooler that would refuse them until another node leads; an idle one is left alone", async (context) => {
    const { gateway, poolers, intents, events } = await fixtureOf(context);
    const [busy, idle] = poolers;
    busy.waiting = 4;
    await gateway.simulator.fault("pg1", { kind: "kill" });
    await until({ what: "PAUSE", ...lost }, () => busy.isPaused);
    assert.match(readFileSync(intents, "utf8"), /"start": "loss"/);
    await until("the event", () => events("hold_began").length === 1);
    const status = await sendRequest(`${gateway.adminUrl}/status`);
    assert.match(status.body, /clients of demo wait since \d+\.\d s \(1 pooler, 4 clients; at most 45\.0 s\)/);
    const shown = await runText(["status", "--server", gateway.adminUrl]);
    assert.match(shown.out, /clients of demo wait since \d+\.\d s \(1 pooler, 4 clients; at most 45\.0 s\)/);
    const held = await runOf(gateway);
    assert.deepEqual([held["start"], held["leader"], held["state"], held["by"]], ["loss", "pg1", "switching", null]);
    assert.deepEqual(phasesOf(held), ["confirmed", "watched"]);
    await until({ what: "RESUME", ...lost }, () => !busy.isPaused);
    await until("the end", () => events("hold_ended").length === 1);
    const over = await runOf(gateway);
    assert.deepEqual(stepsOf(over), ["armed", "paused", "writable", "routed", "resuming", "resumed"]);
    const [ended] = events("hold_ended");
    assert.deepEqual([ended?.["outcome"], ended?.["from"], ended?.["clients"]], ["switched", "pg1", 4]);
    assert.ok(["pg2", "pg3"].includes(String(ended?.["to"])), String(ended?.["to"]));
    assert.deepEqual(idle.changes, [], "nothing was sent to it");
    assert.deepEqual(leftIn(intents), []);
    const { body } = await sendRequest(`${gateway.adminUrl}/metrics`);
    assert.match(body, /rolecall_holds_total\{cluster="demo",outcome="switched"\} 1/);
    assert.match(body, /rolecall_hold_seconds_count\{cluster="demo"\} 1/);
  });

  test("are cut at the limit where hold_end is fail, and not held again without a primary", async (context) => {
    const { gateway, poolers, events } = await fixtureOf(context, { holdOnLossMs: 2_000, holdEnd: "fail" });
    const [busy] = poolers;
    busy.waiting = 1;
    for (const node of ["pg1", "pg2", "pg3"]) await gateway.simulator.fault(node, { kind: "kill" });
    await until({ what: "PAUSE", ...lost }, () => busy.isPaused);
    await until({ what: "RESUME", ...lost }, () => !busy.isPaused);
    assert.deepEqual(busy.changes, ["PAUSE orders", "KILL orders", "RESUME orders"]);
    await until("the end", () => events("hold_ended").length === 1);
    assert.equal(events("hold_ended")[0]?.["outcome"], "no_primary");
    const { body } = await sendRequest(`${gateway.adminUrl}/metrics`);
    assert.match(body, /rolecall_hold_failed_timestamp_seconds\{cluster="demo"\} \d+/);
    assert.equal(events("hold_began").length, 1);
  });

  test("go on where somebody resumes them, and are not held again by that loss", async (context) => {
    const { gateway, poolers, events } = await fixtureOf(context);
    const [busy] = poolers;
    busy.waiting = 1;
    for (const node of ["pg1", "pg2", "pg3"]) await gateway.simulator.fault(node, { kind: "kill" });
    await until({ what: "PAUSE", ...lost }, () => busy.isPaused);
    busy.isPaused = false;
    await until({ what: "the end", ...lost }, () => events("hold_ended").length === 1);
    assert.equal(events("hold_ended")[0]?.["outcome"], "stayed");
    assert.deepEqual(
      busy.changes.filter((change) => change.startsWith("PAUSE")),
      ["PAUSE orders"],
    );
  });
});
