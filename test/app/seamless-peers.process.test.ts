/** Seamless switchovers of a whole process that has another rolecall as its peer. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test, type TestContext } from "node:test";
import { pino } from "pino";
import type { App } from "../../src/app/app.ts";
import type { PoolerConfig } from "../../src/core/config/model/config.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import type { RunDocument } from "../../src/features/switchover/run/run-document.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import type { FakePgbouncer } from "../fake/fake-pgbouncer.ts";
import { freePort } from "../fake/free-port.ts";
import { gatewayFixture } from "../fake/gateway-fixture.ts";
import { sendRequest } from "../fake/http-request.ts";
import { sharedPoolers } from "../fake/shared-poolers.ts";
import { until } from "../fake/until.ts";
import { appOf, portFor } from "./app-fixture.ts";

interface Pair {
  readonly poolers: readonly FakePgbouncer[];
  readonly peer: App;
  readonly peerLog: readonly string[];
  readonly begin: (body?: object) => Promise<void>;
  readonly ended: () => Promise<RunDocument>;
  /** How many databases the peer watches. */
  readonly watched: () => Promise<string | undefined>;
}

/** @param own the poolers in the configuration of the peer, by those of the first process */
async function startPair(
  context: TestContext,
  own: (poolers: readonly PoolerConfig[]) => readonly PoolerConfig[] = (poolers) => poolers,
): Promise<Pair> {
  const { folder, tokenFile, poolers, configured } = await sharedPoolers(context, "seamless-peers");
  const admin = listenerOf({ dialect: "admin", access: { ...unrestrictedAccess, pauseTokens: [tokenFile] } });
  const nodes = [nodeOf({ name: "pg1", api: "http://127.0.0.1:1" })];
  const peerLog: string[] = [];
  // Each has the other among its peers.
  const port = await freePort();
  const first = { name: "core1", url: `http://127.0.0.1:${port}`, tokenFile, tls: null };
  const peer = appOf(
    context,
    configOf({ clusters: [clusterOf({ nodes })], listen: [admin], poolers: own(configured), peers: [first] }),
    {
      log: pino(
        { level: "info" },
        new PassThrough().on("data", (line: Buffer) => peerLog.push(line.toString())),
      ),
    },
  );
  await peer.start();
  const url = `http://127.0.0.1:${portFor(peer, admin)}`;
  const gateway = await gatewayFixture({
    listener: { dialect: "admin", port },
    access: { auth: { for: "unsafe", basic: [], bearer: [tokenFile], certificate: false }, pauseTokens: [tokenFile] },
    config: {
      stateFile: join(folder, "state.json"),
      poolers: configured,
      peers: [{ name: "core2", url, tokenFile, tls: null }],
    },
  });
  context.after(() => gateway.close());
  const headers = { authorization: "Bearer secret", "content-type": "application/json" };
  const begin = async (body: object = {}): Promise<void> => {
    const asked = { seamless: true, route_wait: "0s", candidate: "pg2", ...body };
    const path = "/clusters/demo/switchover";
    const answer = await gateway.request(path, { method: "POST", headers, body: JSON.stringify(asked) });
    assert.equal(answer.status, 202, answer.body);
  };
  const ended = (): Promise<RunDocument> =>
    until({ what: "the end of the run", seconds: 30 }, async () => {
      const { body } = await gateway.request("/clusters/demo/switchover/run");
      const run = JSON.parse(body) as RunDocument;
      return run.state === "ended" ? run : undefined;
    });
  const watched = async (): Promise<string | undefined> => {
    const { body } = await sendRequest(`${url}/metrics`);
    return /^rolecall_pauses_held\{cluster="demo",state="watched"\} (\d)$/m.exec(body)?.[1];
  };
  return { poolers, peer, peerLog, begin, ended, watched };
}

describe("a seamless switchover with a peer", { timeout: 120_000 }, () => {
  test("needs no unguarded: the peer watches it to its end", async (context) => {
    const { poolers, begin, ended, peerLog, watched } = await startPair(context);
    await begin();
    const run = await ended();
    assert.deepEqual(run.outcome, { kind: "switched", node: "pg2" }, JSON.stringify(run));
    const announced = peerLog.find((line) => line.includes("pauses of another rolecall are watched")) ?? "{}";
    assert.deepEqual(JSON.parse(announced).poolers, [
      { pooler: "pgb1", databases: ["orders"] },
      { pooler: "pgb2", databases: ["orders"] },
    ]);
    assert.ok(peerLog.every((line) => !line.includes("pauses_taken_over")));
    await until("the end at the peer", async () => (await watched()) === undefined);
    assert.ok(poolers.every(({ isPaused }) => !isPaused));
  });

  test("does not begin if the peer does not reach what it would pause", async (context) => {
    const { poolers, begin, ended } = await startPair(context, (configured) => configured.slice(1));
    await begin();
    const run = await ended();
    assert.equal(run.outcome?.kind, "refused");
    assert.match(run.text ?? "", /core2.*the configuration of this peer has no pooler pgb1/);
    assert.ok(poolers.every(({ changes }) => changes.length === 0));
  });

  test("ends with RESUME if the peer is silent before the request", async (context) => {
    const { poolers, peer, begin, ended } = await startPair(context);
    poolers[0]?.begin();
    await begin();
    await until("a PAUSE", () => poolers.every(({ isPaused }) => isPaused));
    await peer.stop({ drains: false });
    const run = await ended();
    assert.equal(run.outcome?.kind, "aborted");
    assert.match(run.text ?? "", /the peer core2 has not answered for 1 s/);
    assert.ok(poolers.every(({ isPaused }) => !isPaused));
  });
});
