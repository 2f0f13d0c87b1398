import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import type { Config } from "../../../../src/core/config/model/config.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import type { PreflightInput, PreflightSources } from "../../../../src/features/switchover/checks/preflight-input.ts";
import { runPreflight } from "../../../../src/features/switchover/checks/run-preflight.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { goodConsole } from "../../../fake/good-console.ts";
import { type ConsoleAnswer, FakeConsole } from "../../../fake/fake-console.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";
import { until } from "../../../fake/until.ts";

const server = { type: "S", user: "app", database: "orders", addr: "10.0.0.1", port: 5432, ptr: "0x1", link: "0x2" };
const busy = { ...server, state: "active", request_time: "2026-11-27 04:00:00 UTC" };

/** A console that is set up well, with these servers. */
async function consoleWith(context: TestContext, servers: () => ConsoleAnswer = () => []): Promise<FakeConsole> {
  const fake = goodConsole();
  const { answer } = fake;
  fake.answer = (command) => (command === "SHOW SERVERS" ? servers() : answer(command));
  await fake.listen(context);
  return fake;
}

function sources(): PreflightSources {
  const fixture = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  fixture.lead("pg1", 0);
  fixture.follow("pg2", 0);
  return { view: () => viewAt(fixture.cluster, fixture.policy, 100), servers: () => [] };
}

/** A peer that allows every run, and has this rolecall among its own peers. */
async function agreeingPeer(context: TestContext, mutual: boolean | null = true): Promise<Config["peers"][number]> {
  const peer = createServer((_, response) => response.end(JSON.stringify({ granted: true, mutual })));
  const port = await listenDuringTest(context, peer);
  context.after(() => peer.closeAllConnections());
  return { name: "core2", url: `http://127.0.0.1:${port}`, tokenFile: null, tls: null };
}

function inputOf(
  poolers: Config["poolers"],
  { peers = [], ...changes }: Partial<PreflightInput> & { readonly peers?: Config["peers"] } = {},
): PreflightInput {
  return {
    cluster: "demo",
    leader: null,
    candidate: "pg2",
    restart: null,
    config: { poolers, stateFile: "/state.json", peers },
    self: { instance: "i1", name: "core1", generation: 1 },
    isUnguarded: false,
    supervisor: { isPresent: false, ends: "none", watchdogMs: null },
    deadlineMs: 15_000,
    uncounted: [],
    heldMs: [],
    routeWaitMs: 0,
    ...changes,
  };
}

const pooler = (name: string, port: number, cluster = "demo"): Config["poolers"][number] => {
  const plain = poolerOf(name, `127.0.0.1:${port}`);
  return { ...plain, databases: plain.databases.map((database) => ({ ...database, cluster })) };
};

const texts = ({ lines }: Awaited<ReturnType<typeof runPreflight>>): readonly string[] =>
  lines.map(({ level, subject, text }) => `${level} ${subject}: ${text}`);

test("gives every line with its figures, changes nothing, and leaves no console open", async (context) => {
  const fake = await consoleWith(context);
  const peers = [await agreeingPeer(context)];
  const preflight = await runPreflight(inputOf([pooler("pgb1", fake.port)], { peers }), sources());
  assert.deepEqual(texts(preflight), [
    "ok leader: pg1 is the only primary that takes writes, seen with the lock for 0.1 s",
    "ok candidate: pg2 streams, 0B behind (the limit is not known), on timeline 1",
    "ok pgb1: PgBouncer 1.24, one process, user rolecall may PAUSE, server_login_retry 1, query_wait_timeout 120 for a deadline of 15 s, pause_limit 3 s",
    "ok pgb1/orders: not paused, pool_mode transaction, 0 clients, leads to 127.0.0.9:5000",
    "ok pgb1: before the first PAUSE core2 must acknowledge it: if rolecall dies, it is resumed from there",
    "ok pgb1: no connection stayed active through 11 samples in 1 s (not provable)",
    "ok state_file: what is paused is written beside /state.json before the first PAUSE",
    "ok peer core2: allows a switchover, and asks this rolecall before one of its own",
    "ok guardian: a process of its own finishes the switchover if rolecall dies or hangs",
    "ok forecast: clients will wait about 2.7 s (measured with Patroni 4.1.4)",
  ]);
  assert.deepEqual([preflight.refusal, preflight.forecastMs], [null, 2_700]);
  assert.deepEqual(
    [...new Set(fake.commands)].filter((command) => !command.startsWith("SHOW ")),
    ["PAUSE pgbouncer"],
  );
  await until("no open console", () => fake.connections === 0);
});

test("names the transaction that may hold the PAUSE, and its client", async (context) => {
  const fake = await consoleWith(context, () => [busy]);
  const { answer } = fake;
  const client = { state: "active", addr: "10.0.0.7", port: 4711, ptr: "0x2", application_name: "etl" };
  fake.answer = (command) => {
    const said = answer(command);
    return command === "SHOW CLIENTS" && Array.isArray(said) ? [client, ...said] : said;
  };
  const peers = [await agreeingPeer(context)];
  const { lines, refusal } = await runPreflight(inputOf([pooler("pgb1", fake.port)], { peers }), sources());
  assert.equal(refusal, null);
  assert.deepEqual(
    lines.filter(({ level }) => level !== "ok").map(({ subject, text }) => `${subject}: ${text}`),
    [
      "pgb1/orders: a connection of user app from 10.0.0.7:4711 (etl) has been active for the whole 1 s: its transaction may hold the PAUSE; pause_limit 3 s decides",
    ],
  );
});

test("refuses with the first error, and gives all of them", async (context) => {
  const fake = await consoleWith(context);
  const { answer } = fake;
  fake.answer = (command) => (command === "PAUSE pgbouncer" ? { error: "console already paused" } : answer(command));
  const input = inputOf([pooler("pgb1", fake.port)], {
    leader: "pg2",
    candidate: null,
    config: { poolers: [pooler("pgb1", fake.port)], stateFile: null, peers: [] },
  });
  const { lines, refusal } = await runPreflight(input, sources());
  assert.equal(refusal, "leader: must be pg2, got pg1");
  assert.deepEqual(
    lines.filter(({ level }) => level === "error").map(({ subject }) => subject),
    ["leader", "pgb1", "pgb1", "state_file"],
  );
});

test("is done in time although a console is silent, one does not finish, and one is gone", async (context) => {
  const [silent, slow, good] = [goodConsole(), await consoleWith(context, () => "silence"), await consoleWith(context)];
  silent.login = { kind: "silence" };
  await silent.listen(context);
  const gone = { ...poolerOf("gone", "/no/such/folder"), databases: pooler("gone", 1).databases };
  const poolers = [pooler("silent", silent.port), pooler("slow", slow.port), gone, pooler("good", good.port)];
  const { lines } = await runPreflight(
    inputOf(poolers, { isUnguarded: true, peers: [await agreeingPeer(context)] }),
    sources(),
  );
  assert.deepEqual(
    lines
      .filter(({ level, subject }) => level === "error" || subject === "slow")
      .map(({ level, subject, text }) => `${level} ${subject}: ${text.replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS")}`),
    [
      "error silent: Cannot use the console at ADDRESS: no complete answer within 1500 ms",
      "ok slow: PgBouncer 1.24, one process, user rolecall may PAUSE, server_login_retry 1, query_wait_timeout 120 for a deadline of 15 s, pause_limit 3 s",
      "warning slow: is not reached by a peer (an unguarded switchover asks none): if rolecall and its guardian process die or hang, it stays paused until rolecall runs again, without a bound, because no supervisor is seen that starts it",
      "warning slow: long transactions cannot be looked for: no complete answer within 1500 ms; pause_limit 3 s decides",
      "error gone: Cannot use the console at /no/such/folder: the socket does not exist (ENOENT)",
    ],
  );
});

test("poolers of other clusters refuse nothing, unless they are the same process", async (context) => {
  const fake = await consoleWith(context);
  const peers = [await agreeingPeer(context)];
  const own = pooler("pgb1", fake.port);
  const other = { ...poolerOf("other", "/no/such/folder"), databases: pooler("other", 1, "billing").databases };
  const { lines, refusal } = await runPreflight(inputOf([other, own], { peers }), sources());
  assert.equal(refusal, null);
  assert.deepEqual(
    lines.filter(({ subject }) => subject === "other").map(({ text }) => text),
    [
      "Cannot use the console at /no/such/folder: the socket does not exist (ENOENT); whether clients of it lead to the cluster is not known",
    ],
  );
  const twin = { ...pooler("twin", fake.port, "billing"), name: "twin" };
  assert.equal(
    (await runPreflight(inputOf([own, twin], { peers }), sources())).refusal,
    "pgb1: must be a process that no other pooler is, got that of twin",
  );
});

test("refuses without a pooler of the cluster, and without the cluster", async () => {
  const none = await runPreflight(inputOf([]), sources());
  assert.equal(
    none.refusal,
    "poolers: must have a database of the cluster demo, got none: nobody's clients would wait",
  );
  const unknown = await runPreflight(inputOf([]), { ...sources(), view: () => null });
  assert.deepEqual([unknown.refusal, unknown.forecastMs], ["cluster: must be one that is monitored, got demo", null]);
});

test("refuses where a peer would not ask before a switchover of its own, or does not answer", async (context) => {
  const fake = await consoleWith(context);
  const refusalWith = async (peer: Config["peers"][number]): Promise<string | null> =>
    (await runPreflight(inputOf([pooler("pgb1", fake.port)], { peers: [peer] }), sources())).refusal;
  assert.equal(
    await refusalWith(await agreeingPeer(context, false)),
    "peer core2: must have this rolecall among its peers, got none: it would not ask before a switchover of its own",
  );
  assert.equal(await refusalWith(await agreeingPeer(context, null)), null, "a warning");
  assert.match(
    (await refusalWith({ name: "core2", url: "http://127.0.0.1:1", tokenFile: null, tls: null })) ?? "",
    /^peer core2: must say whether another switchover goes on there, got no answer: .*ECONNREFUSED/,
  );
});

test("warns of Envoys that are not waited for", async (context) => {
  const fake = await consoleWith(context);
  const peers = [await agreeingPeer(context)];
  const input = inputOf([pooler("pgb1", fake.port)], { peers, uncounted: [{ listener: "0.0.0.0:18000", envoys: 2 }] });
  const { lines, refusal } = await runPreflight(input, sources());
  assert.equal(refusal, null);
  assert.equal(
    lines.find(({ subject }) => subject === "0.0.0.0:18000")?.text,
    "2 Envoys of this listener, which everybody may reach, are not waited for",
  );
});
