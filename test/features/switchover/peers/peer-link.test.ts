import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { PeerConfig } from "../../../../src/features/switchover/config/peer-schema.ts";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import type { PauseIntent } from "../../../../src/features/switchover/intent/pause-intent.ts";
import { PeerLink } from "../../../../src/features/switchover/peers/peer-link.ts";
import { appOf, limit, portFor } from "../../../app/app-fixture.ts";
import { CertificateAuthority } from "../../../fake/certificates.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../../fake/config.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { PausableConsole } from "../../../fake/pausable-console.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";
import { until } from "../../../fake/until.ts";

const tokenFile = join(temporaryFolder("peer-link"), "token");
writeFileSync(tokenFile, "secret\n");

interface Heard {
  echoes: number;
  readonly takenOver: string[];
}

function linkTo(peer: Partial<PeerConfig>, intent: PauseIntent): { readonly link: PeerLink; readonly heard: Heard } {
  const heard: Heard = { echoes: 0, takenOver: [] };
  const whole = { name: "core2", url: "http://127.0.0.1:1", tokenFile, tls: null, ...peer };
  const link = new PeerLink(whole, () => intent, {
    onEcho: () => (heard.echoes += 1),
    onTakenOver: (by) => heard.takenOver.push(by),
  });
  return { link, heard };
}

function intentFor(pgbouncer: PausableConsole, parts: Partial<PauseIntent> = {}): PauseIntent {
  return {
    run: "r1",
    cluster: "orders",
    deadlineWallMs: Date.now() + 60_000,
    targets: ["a", "b"].map((database) => ({ pooler: "pgb1", database, console: pgbouncer.target })),
    finish: null,
    ...parts,
  };
}

describe("a link to a whole rolecall", limit, () => {
  const cluster = clusterOf({ name: "orders", nodes: [nodeOf({ name: "pg1", api: "http://127.0.0.1:1" })] });

  test("announces, beats, tells what is closed, and ends, with a token", async (context) => {
    const pgbouncer = await new PausableConsole(["a", "b"]).listen(context);
    const admin = listenerOf({ dialect: "admin", access: { ...unrestrictedAccess, pauseTokens: [tokenFile] } });
    const poolers = [pgbouncer.pooler("pgb1", ["a", "b"])];
    const app = appOf(context, configOf({ clusters: [cluster], listen: [admin], poolers }));
    await app.start();
    const url = `http://127.0.0.1:${portFor(app, admin)}`;
    const { link, heard } = linkTo({ url }, intentFor(pgbouncer));
    assert.equal(await link.arm(), null);
    const again = linkTo({ url }, intentFor(pgbouncer));
    assert.match((await again.link.arm()) ?? "", /the run r1 is known already$/);
    const other = linkTo({ url }, intentFor(pgbouncer, { run: "r2", cluster: "billing" }));
    assert.match((await other.link.arm()) ?? "", /has no database a of billing/);
    await link.sendBeat([0, 1], 15_000, []);
    assert.equal(heard.echoes, 1, "a link that was refused takes nothing back");
  });

  test("is known by its client certificate", async (context) => {
    const authority = new CertificateAuthority();
    context.after(() => authority.remove());
    const [server, client] = [authority.issue("core2"), authority.issue("core1")];
    const pgbouncer = await new PausableConsole(["a", "b"]).listen(context);
    const tls = { ...server, ca: authority.ca, minVersion: "TLSv1.2", client: "required" } as const;
    const admin = listenerOf({ dialect: "admin", access: { ...unrestrictedAccess, management: true, tls } });
    const poolers = [pgbouncer.pooler("pgb1", ["a", "b"])];
    const app = appOf(context, configOf({ clusters: [cluster], listen: [admin], poolers }));
    await app.start();
    const url = `https://127.0.0.1:${portFor(app, admin)}`;
    const files = { ca: authority.ca, serverName: null, verify: "full" } as const;
    const known = linkTo({ url, tokenFile: null, tls: { ...files, ...client } }, intentFor(pgbouncer));
    assert.equal(await known.link.arm(), null);
    await known.link.sendBeat([0], 15_000, []);
    assert.equal(known.heard.echoes, 1);
    await known.link.end();
    const unknown = linkTo({ url, tls: { ...files, cert: null, key: null } }, intentFor(pgbouncer));
    assert.notEqual(await unknown.link.arm(), null);
    const untrusted = linkTo({ url, tokenFile: null, tls: { ...files, ...client, ca: null } }, intentFor(pgbouncer));
    assert.match((await untrusted.link.arm()) ?? "", /certificate|self.signed/i);
    assert.deepEqual(pgbouncer.changes, []);
  });
});

/** A peer that answers as a test says. */
async function cannedPeer(
  context: TestContext,
  answer: (request: string, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((message: IncomingMessage, response) => {
    let body = "";
    message.on("data", (chunk: Buffer) => (body += chunk.toString()));
    message.on("end", () => {
      const request = `${message.method} ${message.url}`;
      requests.push(`${request} ${body}`.trim());
      answer(request, response);
    });
  });
  const port = await listenDuringTest(context, server);
  context.after(() => server.closeAllConnections());
  return { url: `http://127.0.0.1:${port}`, requests };
}

const ok = (response: ServerResponse, body: object): void => void response.end(JSON.stringify(body));

describe("a link to a peer", limit, () => {
  test("says after a loss what is only watched, where that changes, and nothing of it for other runs", async (context) => {
    const pgbouncer = await new PausableConsole(["a", "b"]).listen(context);
    const evidence = { systemIdentifier: null, timeline: null };
    const of = { generation: 1, leader: "pg1", candidate: null, mayBeRequested: true, evidence };
    for (const start of ["loss", "request"] as const) {
      const { url, requests } = await cannedPeer(context, (_, response) => ok(response, { acknowledged: true }));
      const { link } = linkTo({ url }, intentFor(pgbouncer, { finish: { ...of, start } }));
      assert.equal(await link.arm(), null);
      await link.sendBeat([0, 1], 4, [0, 1]);
      await link.sendBeat([0, 1], 3, [1]);
      await link.sendBeat([0, 1], 2, [1]);
      await link.sendBeat([0, 1], 1, []);
      await link.end();
      const beats = requests.filter((request) => request.includes("/heartbeat"));
      const watched = beats.map((beat) => /"watched":(\[.*?\}\]|\[\])/.exec(beat)?.[1] ?? null);
      const one = '[{"pooler":"pgb1","databases":["b"]}]';
      assert.deepEqual(watched, start === "loss" ? [null, one, null, "[]"] : [null, null, null, null]);
    }
  });

  test("says in words why it is not ready, and takes back what may have been taken", async (context) => {
    const pgbouncer = await new PausableConsole(["a", "b"]).listen(context);
    const rows: readonly (readonly [(response: ServerResponse) => void, RegExp, isTakenBack: boolean])[] = [
      [(response) => ok(response, {}), /^it answered 200$/, true],
      [(response) => response.writeHead(503).end('{"message":"Cannot\\u0007 do"}'), /^Cannot\? do$/, false],
      [(response) => response.writeHead(401).end("no json"), /^it answered 401$/, false],
      [(response) => response.destroy(), /socket|other side|closed|hang up/i, true],
      [(response) => response.end("x".repeat(100_000)), /exceed|size/i, true],
      [() => {}, /^no answer within 2000 ms$/, true],
    ];
    for (const [answer, problem, isTakenBack] of rows) {
      const peer = await cannedPeer(context, (request, response) =>
        request === "POST /pauses" ? answer(response) : ok(response, {}),
      );
      const { link } = linkTo(peer, intentFor(pgbouncer));
      assert.match((await link.arm()) ?? "", problem);
      if (isTakenBack) await until("DELETE", () => peer.requests.at(-1) === "DELETE /pauses/r1");
      else assert.equal(peer.requests.length, 1);
    }
    const nobody = linkTo({ url: "http://127.0.0.1:1" }, intentFor(pgbouncer));
    assert.equal(await nobody.link.arm(), "the connection was refused (ECONNREFUSED)");
    const unread = linkTo({ tokenFile: "/no/such/token" }, intentFor(pgbouncer));
    assert.match((await unread.link.arm()) ?? "", /\/no\/such\/token/);
    const gone = { ...pgbouncer.target, address: { host: "127.0.0.1", port: 1 } };
    const targets = [{ pooler: "pgb1", database: "a", console: gone }];
    const unreached = linkTo({}, intentFor(pgbouncer, { targets }));
    assert.equal(await unreached.link.arm(), "pooler pgb1: the connection was refused (ECONNREFUSED)");
  });

  test("announces only what another machine can reach", async (context) => {
    const pgbouncer = await new PausableConsole(["a"]).listen(context);
    const peer = await cannedPeer(context, (_, response) => ok(response, { acknowledged: true }));
    const folder = { ...pgbouncer.target, address: { folder: "/run/pgbouncer", port: 6432 } };
    const local = { pooler: "pgb2", database: "b", console: folder };
    const targets = [local, { pooler: "pgb1", database: "a", console: pgbouncer.target }];
    const { link } = linkTo(peer, intentFor(pgbouncer, { targets }));
    assert.equal(await link.arm(), null);
    assert.match(
      peer.requests[0] ?? "",
      /"poolers":\[\{"pooler":"pgb1","databases":\["a"\],"console":"rolecall \w+"\}\]/,
    );
    await link.sendBeat([0, 1], 1_000, []);
    await link.sendBeat([0], 900, []);
    assert.deepEqual(peer.requests.slice(1), [
      'POST /pauses/r1/heartbeat {"left_ms":1000}',
      'POST /pauses/r1/heartbeat {"open":[],"left_ms":900}',
    ]);
    const alone = linkTo(peer, intentFor(pgbouncer, { targets: [local] }));
    assert.match((await alone.link.arm()) ?? "", /folder of a Unix socket/);
  });

  test("sends one heartbeat at a time, and says what is closed until the end, also to a peer that took over", async (context) => {
    const pgbouncer = await new PausableConsole(["a", "b"]).listen(context);
    const waiting: ServerResponse[] = [];
    const peer = await cannedPeer(context, (request, response) => {
      if (request === "POST /pauses/r1/heartbeat") waiting.push(response);
      else ok(response, { acknowledged: true });
    });
    const { link, heard } = linkTo(peer, intentFor(pgbouncer));
    assert.equal(await link.arm(), null);
    const first = link.sendBeat([0, 1], 1_000, []);
    await link.sendBeat([0, 1], 999, []);
    await until("a heartbeat", () => waiting.length === 1);
    ok(waiting[0]!, { state: "held" });
    await first;
    const second = link.sendBeat([1], 998, []);
    await until("a heartbeat", () => waiting.length === 2);
    waiting[1]!.writeHead(410).end('{"state":"taken_over","by":"core\\u00022"}');
    await second;
    const third = link.sendBeat([1], 997, []);
    await until("a heartbeat", () => waiting.length === 3);
    waiting[2]!.writeHead(410).end("{}");
    await third;
    assert.deepEqual(heard, { echoes: 1, takenOver: ["core?2"] });
    await link.end();
    await link.end();
    await link.sendBeat([1], 1, []);
    assert.deepEqual(peer.requests.slice(1), [
      'POST /pauses/r1/heartbeat {"left_ms":1000}',
      'POST /pauses/r1/heartbeat {"open":[{"pooler":"pgb1","databases":["b"]}],"left_ms":998}',
      'POST /pauses/r1/heartbeat {"left_ms":997}',
      "DELETE /pauses/r1",
    ]);
  });

  test("a peer that answers no heartbeat in time, or forgot the run, gives no echo and stops nothing", async (context) => {
    const pgbouncer = await new PausableConsole(["a", "b"]).listen(context);
    let answer: (response: ServerResponse) => void = () => {};
    const peer = await cannedPeer(context, (request, response) =>
      request.endsWith("heartbeat") ? answer(response) : ok(response, { acknowledged: true }),
    );
    const { link, heard } = linkTo(peer, intentFor(pgbouncer));
    assert.equal(await link.arm(), null);
    await link.sendBeat([0, 1], 1_000, []);
    answer = (response) => response.writeHead(404).end('{"error":"no_run"}');
    await link.sendBeat([0, 1], 500, []);
    answer = (response) => response.destroy();
    await link.sendBeat([0, 1], 400, []);
    assert.deepEqual(heard, { echoes: 0, takenOver: [] });
    answer = (response) => ok(response, { state: "held" });
    await link.sendBeat([0, 1], 300, []);
    assert.equal(heard.echoes, 1);
    await link.end();
  });
});
