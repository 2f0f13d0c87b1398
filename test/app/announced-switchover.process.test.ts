/** Switchovers that others begin, in a whole process: simulated nodes, PgBouncers that only know PAUSE and RESUME. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { PeerConfig } from "../../src/features/switchover/config/peer-schema.ts";
import type { SimulatorOptions } from "../../src/tools/simulator/simulator.ts";
import type { RunDocument } from "../../src/features/switchover/run/run-document.ts";
import { FakePgbouncer } from "../fake/fake-pgbouncer.ts";
import { gatewayFixture, type GatewayFixture } from "../fake/gateway-fixture.ts";
import { sendRequest } from "../fake/http-request.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { poolerOf } from "../fake/pooler-setup.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";

interface Announced {
  readonly status: number;
  readonly effect: string;
  readonly run: string | null;
  readonly reason: string | null;
}

interface Fixture {
  readonly gateway: GatewayFixture;
  readonly poolers: readonly FakePgbouncer[];
  /** Announces that a node stops, as the script of Patroni does. */
  readonly announce: (node?: string) => Promise<Announced>;
  /** Announces it until clients are held: on a busy machine the guardian may not be ready in time. */
  readonly held: () => Promise<Announced>;
  /** What others do to the cluster, without rolecall. */
  readonly call: (path: string, body: object) => Promise<void>;
  readonly ended: () => Promise<RunDocument>;
  readonly isPaused: () => readonly boolean[];
}

async function fixtureOf(
  context: TestContext,
  simulator: Partial<SimulatorOptions> = {},
  peers: readonly PeerConfig[] = [],
): Promise<Fixture> {
  const poolers = [await FakePgbouncer.start(context), await FakePgbouncer.start(context)];
  const folder = temporaryFolder("announced");
  const [stateFile, file] = [join(folder, "state.json"), join(folder, "token")];
  writeFileSync(file, "stop-token", { mode: 0o600 });
  const gateway = await gatewayFixture({
    simulator: { switchoverMs: 600, ...simulator },
    listener: { dialect: "admin" },
    access: { management: false, readOnly: true, beforeStopTokens: [{ cluster: "demo", file }] },
    config: {
      stateFile,
      peers,
      poolers: poolers.map(({ console: { port } }, at) => {
        const pooler = poolerOf(`pgb${at + 1}`, `127.0.0.1:${port}`);
        return { ...pooler, databases: pooler.databases.map((database) => ({ ...database, cluster: "demo" })) };
      }),
    },
  });
  context.after(() => gateway.close());
  const fixture: Fixture = {
    gateway,
    poolers,
    announce: async (node = "pg1") => {
      const { status, body } = await gateway.request(`/hint?cluster=demo&node=${node}&event=before_stop`, {
        method: "POST",
        headers: { authorization: "Bearer stop-token" },
      });
      return { ...(JSON.parse(body) as Omit<Announced, "status">), status };
    },
    held: () =>
      until("held clients", async () => {
        const answer = await fixture.announce();
        return answer.effect === "held" ? answer : undefined;
      }),
    call: async (path, body) => {
      const [leader] = gateway.simulator.nodes;
      await sendRequest(`${leader?.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    },
    ended: () =>
      until("the end of the run", async () => {
        const { body } = await gateway.request("/clusters/demo/switchover/run");
        const run = JSON.parse(body) as RunDocument;
        return run.state === "ended" ? run : undefined;
      }),
    isPaused: () => poolers.map(({ isPaused }) => isPaused),
  };
  context.after(() => {
    assert.deepEqual(fixture.isPaused(), [false, false]);
    if (!existsSync(`${stateFile}.pauses`)) return;
    const { intents } = JSON.parse(readFileSync(`${stateFile}.pauses`, "utf8")) as { readonly intents: unknown };
    assert.deepEqual(intents, []);
  });
  return fixture;
}

describe("a switchover that others begin", { timeout: 120_000 }, () => {
  test("holds clients before the leader stops, and lets them go on where another node leads", async (context) => {
    const { announce, held, call, ended, isPaused, gateway } = await fixtureOf(context);
    const answer = await held();
    assert.deepEqual([answer.status, answer.reason], [202, null]);
    assert.deepEqual(isPaused(), [true, true]);
    // The script is asked again: nothing begins twice.
    assert.deepEqual(await announce(), answer);
    void call("/switchover", { leader: "pg1", candidate: "pg2" });
    const run = await ended();
    assert.deepEqual([run.run, run.outcome, run.by], [answer.run, { kind: "switched", node: "pg2" }, "token:1"]);
    assert.deepEqual(
      run.steps.map(({ step }) => step).filter((step) => step !== "note"),
      ["checked", "armed", "paused", "writable", "routed", "resuming", "resumed"],
    );
    const metrics = (await sendRequest(`${gateway.adminUrl}/metrics`)).body;
    assert.match(metrics, /rolecall_hints_total\{cluster="demo",effect="held"\} 2/);
    assert.match(metrics, /rolecall_switchovers_total\{cluster="demo",outcome="switched"\} 1/);
  });

  test("of a leader that only restarts ends when it leads again", async (context) => {
    const { held, call, ended } = await fixtureOf(context);
    await held();
    void call("/restart", {});
    const run = await ended();
    assert.deepEqual(run.outcome, { kind: "stayed", reason: "pg1 leads again" });
  });

  test("of a leader that does not stop ends after 3 s", async (context) => {
    const { held, ended } = await fixtureOf(context);
    await held();
    const run = await ended();
    assert.deepEqual(run.outcome, { kind: "stayed", reason: "pg1 still leads 3 s after it was to stop" });
  });

  test("waits for a transaction, and answers without it in time", async (context) => {
    const { announce, call, ended, poolers, isPaused } = await fixtureOf(context);
    poolers[1]?.begin();
    const answer = await until("clients that wait", async () => {
      const given = await announce();
      return given.status === 202 ? given : undefined;
    });
    assert.equal(answer.effect, "holding");
    await until("PAUSE", () => isPaused()[0]);
    void call("/switchover", { leader: "pg1", candidate: "pg2" });
    // The server ends it when it stops.
    poolers[1]?.end();
    assert.deepEqual((await ended()).outcome, { kind: "switched", node: "pg2" });
  });

  test("does not wait for a peer that does not answer", async (context) => {
    const hanging = createServer(() => {});
    const url = `http://127.0.0.1:${await listenDuringTest(context, hanging)}`;
    const peers = ["http://127.0.0.1:1", url].map((to) => ({ name: to, url: to, tls: null, tokenFile: null }));
    const { held, call, ended, isPaused } = await fixtureOf(context, {}, peers);
    await held();
    assert.deepEqual(isPaused(), [true, true]);
    void call("/switchover", { leader: "pg1", candidate: "pg2" });
    assert.deepEqual((await ended()).outcome, { kind: "switched", node: "pg2" });
  });

  test("without a node that can take over holds nobody", async (context) => {
    const { announce, poolers } = await fixtureOf(context, { nodes: 1 });
    const { status, effect, reason } = await announce();
    assert.deepEqual([status, effect], [409, "not_held"]);
    assert.match(reason ?? "", /^Refused: candidate: .*Nothing was changed\.$/);
    assert.deepEqual(
      poolers.map(({ changes }) => changes),
      [[], []],
    );
  });

  test("of a node that does not lead holds nobody", async (context) => {
    const { announce, poolers } = await fixtureOf(context);
    const { status, reason } = await announce("pg2");
    assert.equal(status, 409);
    assert.match(reason ?? "", /pg2 does not lead demo/);
    assert.deepEqual(poolers[0]?.changes, []);
  });
});
