/** Restarts of databases in a whole process while clients wait: simulated nodes, PgBouncers that only know PAUSE and RESUME. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { parseCheckText } from "../../src/core/config/values/check-text.ts";
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

interface Fixture {
  readonly gateway: GatewayFixture;
  /** The first leads to the primary, the second to replicas. */
  readonly poolers: readonly FakePgbouncer[];
  /** Asks for a restart of a node. */
  readonly call: (node: string, body?: object, query?: string) => Promise<Answer>;
  /** Waits until the run is over. */
  readonly ended: () => Promise<RunDocument>;
}

async function fixtureOf(context: TestContext, checks: readonly string[] = ["/primary", "/replica"]): Promise<Fixture> {
  const poolers = await Promise.all(checks.map(() => FakePgbouncer.start(context)));
  const folder = temporaryFolder("restart");
  const [stateFile, tokenFile] = [join(folder, "state.json"), join(folder, "token")];
  const headers = { authorization: "Bearer a-token-of-this-test", "content-type": "application/json" };
  writeFileSync(tokenFile, "a-token-of-this-test", { mode: 0o600 });
  const gateway = await gatewayFixture({
    simulator: { switchoverMs: 600 },
    listener: { dialect: "admin" },
    access: { auth: { for: "unsafe", basic: [], bearer: [tokenFile], certificate: false } },
    config: {
      stateFile,
      poolers: poolers.map(({ console: { port } }, at) => {
        const pooler = poolerOf(`pgb${at + 1}`, `127.0.0.1:${port}`);
        const check = parseCheckText(checks[at] ?? "", { ignoreParams: [], intervalMs: 1_000 });
        assert.ok(check.ok);
        const ofDemo = { cluster: "demo", check: check.check };
        return { ...pooler, databases: pooler.databases.map((database) => ({ ...database, ...ofDemo })) };
      }),
    },
  });
  context.after(() => gateway.close());
  context.after(() => {
    assert.deepEqual(
      poolers.map(({ isPaused }) => isPaused),
      poolers.map(() => false),
    );
    if (!existsSync(`${stateFile}.pauses`)) return;
    const { intents } = JSON.parse(readFileSync(`${stateFile}.pauses`, "utf8")) as { readonly intents: unknown };
    assert.deepEqual(intents, []);
  });
  return {
    gateway,
    poolers,
    call: async (node, body = {}, query = "") => {
      const { status, body: text } = await gateway.request(`/clusters/demo/nodes/${node}/restart${query}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ seamless: true, unguarded: true, ...body }),
      });
      return { status, document: JSON.parse(text) as Answer["document"] };
    },
    ended: () =>
      until({ what: "the end of the run", seconds: 60 }, async () => {
        const { body } = await gateway.request("/clusters/demo/switchover/run");
        const run = JSON.parse(body) as RunDocument;
        return run.state === "ended" ? run : undefined;
      }),
  };
}

const stepsOf = ({ steps }: RunDocument): readonly string[] =>
  steps.map(({ step }) => step).filter((step) => step !== "note" && step !== "accepted");
const pausedOf = ({ changes }: FakePgbouncer): readonly string[] =>
  changes.filter((change) => /^(PAUSE|RESUME) orders/.test(change));

describe("a restart while clients wait", { timeout: 120_000 }, () => {
  test("of the leader: the clients of the primary wait until it has been restarted", async (context) => {
    const { call, ended, poolers, gateway } = await fixtureOf(context);
    const begun = await call("pg1");
    assert.equal(begun.status, 202, JSON.stringify(begun.document));
    const run = await ended();
    assert.deepEqual(run.outcome, { kind: "restarted", node: "pg1" });
    assert.deepEqual(
      [run.start, run.leader, run.text],
      ["restart", "pg1", "pg1 has been restarted, and clients go on there."],
    );
    assert.deepEqual(stepsOf(run), [
      "checked",
      "armed",
      "paused",
      "requested",
      "restarted",
      "routed",
      "resuming",
      "resumed",
    ]);
    assert.deepEqual(poolers.map(pausedOf), [["PAUSE orders", "RESUME orders"], []]);
    assert.ok((run.targets[0]?.held_ms ?? 0) > 200, JSON.stringify(run.targets));
    const metrics = (await sendRequest(`${gateway.adminUrl}/metrics`)).body;
    assert.match(metrics, /rolecall_seamless_restarts_total\{cluster="demo",outcome="restarted"\} 1/);
    assert.match(metrics, /rolecall_seamless_restart_held_seconds_count\{cluster="demo"\} 1/);
    const { body } = await gateway.request("/events?kind=restart_ended");
    assert.match(body, /a seamless restart of pg1 of demo is over: pg1 has been restarted/);
  });

  test("of a replica: the clients of replicas wait, and those of the primary do not", async (context) => {
    const { call, ended, poolers } = await fixtureOf(context);
    assert.equal((await call("pg2")).status, 202);
    const run = await ended();
    assert.deepEqual(run.outcome, { kind: "restarted", node: "pg2" });
    assert.deepEqual(poolers.map(pausedOf), [[], ["PAUSE orders", "RESUME orders"]]);
  });

  test("a dry run says what is checked, and changes nothing", async (context) => {
    const { call, ended, poolers } = await fixtureOf(context);
    assert.equal((await call("pg1", {}, "?dry_run=1")).status, 202);
    const run = await ended();
    assert.deepEqual(run.outcome, { kind: "dry_run" });
    const texts = run.preflight.map(({ level, subject, text }) => `${level} ${subject}: ${text}`);
    assert.match(texts.join("\n"), /^ok leader: pg1 is the only primary.*\nok pg1: the leader runs since \d{4}-/);
    assert.match(texts.join("\n"), /ok forecast: clients will wait as long as PostgreSQL takes to stop/);
    assert.ok(texts.every((text) => !text.includes("pgb2")));
    assert.deepEqual(poolers.map(pausedOf), [[], []]);
  });

  test("with restart_pending refuses a node without parameters that wait", async (context) => {
    const { call, ended, poolers } = await fixtureOf(context);
    assert.equal((await call("pg1", { restart_pending: true })).status, 202);
    const { outcome } = await ended();
    assert.deepEqual(outcome, {
      kind: "refused",
      reason: "pg1: must wait for a restart, got no parameter that does",
    });
    assert.deepEqual(poolers.map(pausedOf), [[], []]);
  });

  test("refuses what it cannot do, each with its code", async (context) => {
    const { call, gateway } = await fixtureOf(context, ["/primary"]);
    const codeOf = async (answer: Promise<Answer>): Promise<unknown> => {
      const { status, document } = await answer;
      return [status, document["error"]];
    };
    assert.deepEqual(await codeOf(call("pg9")), [400, "bad_request"]);
    assert.deepEqual(await codeOf(call("pg2")), [409, "no_pooler"]);
    assert.deepEqual(await codeOf(call("pg1", { role: "primary" })), [400, "bad_request"]);
    assert.deepEqual(await codeOf(call("pg1", { deadline: "1h" })), [400, "bad_request"]);
    assert.deepEqual(await codeOf(call("pg1", { restart_pending: 1 })), [400, "bad_request"]);
    assert.deepEqual(await codeOf(call("pg1", { unguarded: 1 })), [400, "bad_request"]);
    assert.deepEqual(await codeOf(call("pg1", { seamless: false })), [400, "bad_request"]);
    assert.equal((await gateway.request("/clusters/demo/nodes/pg1/restart")).status, 405);
    assert.equal((await gateway.request("/clusters/demo/nodes/pg1/restart", { method: "POST" })).status, 401);
  });
});
