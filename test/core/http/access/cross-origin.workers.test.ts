import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { App } from "../../../../src/app/app.ts";
import type { LoadedConfig } from "../../../../src/core/config/load.ts";
import { type ListenerAccess, unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { refuseCrossOrigin } from "../../../../src/core/http/access/cross-origin.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../../fake/config.ts";
import { openFakeNode, type FakeNode } from "../../../fake/fake-node.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";
import { until } from "../../../fake/until.ts";
import { workersAnswer } from "../../../fake/workers-answer.ts";
import { workerCounts } from "../../../fake/worker-counts.ts";

type Headers = Readonly<Record<string, string>>;

const host = "192.0.2.7:8008";
const trusted = "https://console.example.com";

/** Headers of a request that changes state, and whether it is accepted. */
const rows: readonly (readonly [given: string, headers: Headers, isTaken: boolean])[] = [
  ["a program, which sends none of the headers", {}, true],
  ["a page of this Host", { origin: `http://${host}` }, true],
  ["a page of this Host, where TLS ends before us", { origin: `https://${host}` }, true],
  ["a page of this Host", { origin: `http://${host}`, "sec-fetch-site": "same-origin" }, true],
  ["a person who typed it", { "sec-fetch-site": "none" }, true],
  ["a trusted page", { origin: trusted }, true],
  ["a trusted page, which is another site's", { origin: trusted, "sec-fetch-site": "cross-site" }, true],
  ["a trusted origin with its port written", { origin: `${trusted}:443` }, true],
  ["another site", { origin: "https://evil.example" }, false],
  ["another site without an Origin, as of a link or an image", { "sec-fetch-site": "cross-site" }, false],
  ["another site that names this Host", { origin: `http://${host}`, "sec-fetch-site": "cross-site" }, false],
  ["another port of this Host", { origin: "http://192.0.2.7:8009" }, false],
  ["this Host without its port", { origin: "http://192.0.2.7" }, false],
  ["a Host that begins alike", { origin: `http://${host}.evil.example` }, false],
  ["a trusted name with another scheme", { origin: "http://console.example.com" }, false],
  ["a trusted name with another port", { origin: `${trusted}:8443` }, false],
  ["a subdomain of a trusted name", { origin: "https://a.console.example.com" }, false],
  ["an opaque origin", { origin: "null" }, false],
  ["an empty origin", { origin: "" }, false],
  ["a page of this Host that only Referer names", { referer: `http://${host}/status` }, true],
  ["a page of this Host that only Referer names, where TLS ends before us", { referer: `https://${host}/a?b` }, true],
  ["a trusted page that only Referer names", { referer: `${trusted}/console?x=1` }, true],
  ["another site that only Referer names", { referer: "https://evil.example/page" }, false],
  ["another port of this Host that only Referer names", { referer: "http://192.0.2.7:8009/" }, false],
  ["another site with this Host in its path", { referer: `https://evil.example/http://${host}/` }, false],
  ["another site with this Host as its user", { referer: `http://${host}@evil.example/` }, false],
  ["another site of this Host's site", { referer: "http://a.192.0.2.7/", "sec-fetch-site": "same-site" }, false],
  ["an empty Referer", { referer: "" }, false],
  ["a Referer that is no URL", { referer: "about:client" }, false],
  ["no URL", { origin: "http://[" }, false],
  ["a page of a file", { origin: "file://" }, false],
];

/** A Host, whether a page of it is our own without auth and TLS, and with one of them. */
const hosts: readonly (readonly [host: string, isOwn: boolean, isOwnIfProtected: boolean])[] = [
  ["127.0.0.1:9108", true, true],
  ["[::1]:9108", true, true],
  ["[2001:db8::7]", true, true],
  ["10.0.0.11", true, true],
  ["localhost:9108", true, true],
  ["edge.localhost", true, true],
  ["evil.example:9108", false, true],
  ["127.0.0.1.evil.example", false, true],
  ["localhost.evil.example", false, true],
  ["notlocalhost", false, true],
  ["", false, false],
];

for (const [name, isOwn, isOwnIfProtected] of hosts)
  test(`a page of the Host ${JSON.stringify(name)}: a name that resolves to us is no proof`, () => {
    for (const headers of [{ origin: `http://${name}` }, { referer: `http://${name}/x` }]) {
      const refused = (isProtected: boolean): boolean =>
        refuseCrossOrigin({ host: name, ...headers }, { trusted: [], isProtected, isSafeMethod: true }) !== null;
      assert.deepEqual([!refused(false), !refused(true)], [isOwn, isOwnIfProtected]);
    }
  });

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
/** Headers of a request with neither Origin nor Referer, and whether it is accepted as a GET and as a POST. */
const nameless: readonly (readonly [given: string, headers: Headers, get: boolean, post: boolean])[] = [
  ["an image or a link on plain http, without Referer", { "user-agent": firefox }, false, true],
  ["the same from a browser in other letters", { "user-agent": firefox.toLowerCase() }, false, true],
  ["a person who typed it on loopback", { "user-agent": firefox, "sec-fetch-site": "none" }, true, true],
  ["a page of this Host without Referer", { "user-agent": firefox, "sec-fetch-site": "same-origin" }, true, true],
  ["a page on another port of localhost", { "user-agent": firefox, "sec-fetch-site": "same-site" }, false, false],
  ["curl", { "user-agent": "curl/8.14.1" }, true, true],
  ["Prometheus", { "user-agent": "Prometheus/3.5.0" }, true, true],
  ["a program that names no agent", {}, true, true],
  ["a program that mentions a browser", { "user-agent": "monitor (compatible; Mozilla/5.0)" }, true, true],
];

for (const [given, headers, get, post] of nameless)
  test(`without Origin and Referer: ${given}`, () => {
    const isTaken = (isSafeMethod: boolean): boolean =>
      refuseCrossOrigin({ host, ...headers }, { trusted: [trusted], isProtected: true, isSafeMethod }) === null;
    assert.deepEqual([isTaken(true), isTaken(false)], [get, post]);
  });

interface Edge {
  readonly node: string;
  readonly admin: string;
  readonly exporter: string;
  readonly pg1: FakeNode;
  readonly reloads: () => number;
}

async function withEdge(
  workers: number,
  parts: Partial<ListenerAccess>,
  play: (edge: Edge) => Promise<void>,
): Promise<void> {
  const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
  const access = { ...unrestrictedAccess, trustedOrigins: [trusted], ...parts };
  const listen = [
    listenerOf({ cluster: "demo", access: { ...access, management: true } }),
    listenerOf({ dialect: "admin", address: "127.0.0.2", access }),
    listenerOf({ dialect: "exporter", address: "127.0.0.3", cluster: "demo", access }),
  ];
  const config = configOf({
    clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: pg1.api })] })],
    listen,
    workers,
  });
  let reloads = 0;
  const load = (): LoadedConfig => {
    reloads += 1;
    return { ok: true, config, simulator: null, hasNoStateKey: true, warnings: [] };
  };
  const app = new App(config, silentLogger, { source: { file: null, load } });
  try {
    await app.start();
    const [node = "", admin = "", exporter = ""] = app.listeners.map(
      (listener) => `http://${listener.config.address}:${listener.port}`,
    );
    if (workers > 0) await workersAnswer(admin, workers);
    await until("a fit primary", async () => (await sendRequest(`${node}/nodes/pg1/primary`)).status === 200);
    await play({ node, admin, exporter, pg1, reloads: () => reloads });
  } finally {
    await app.stop({ drains: false });
    await pg1.close();
  }
}

for (const workers of workerCounts) {
  suite(`unsafe requests from pages of other sites, with ${workers} workers`, { timeout: 60_000 }, () => {
    test("are refused on every listener with a reason; checks are not affected", async () => {
      await withEdge(workers, {}, async ({ node, admin, exporter, pg1, reloads }) => {
        for (const [given, sent, isTaken] of rows) {
          const headers = { host, ...sent };
          const before = [pg1.received.length, reloads()];
          const drain = { for: "1min", reason: "test" };
          const json = { ...headers, "content-type": "application/json" };
          const calls = await Promise.all([
            sendRequest(`${node}/nodes/pg1/restart`, { method: "POST", headers }),
            sendRequest(`${node}/config`, { method: "PATCH", headers, body: { ttl: 30 } }),
            sendRequest(`${admin}/drains/demo/pg1`, { method: "POST", headers: json, body: drain }),
          ]);
          // Reloads that are requested at the same time may share one.
          calls.push(await sendRequest(`${exporter}/reload`, { method: "POST", headers }));
          calls.push(await sendRequest(`${exporter}/reload`, { headers }));
          calls.push(await sendRequest(`${exporter}/%72eload?x`, { headers }));
          for (const { status, headers: got, body } of calls) {
            assert.equal(status, isTaken ? 200 : 403, `${given}: ${body}`);
            if (isTaken) continue;
            assert.equal(got["x-rolecall-reason"], "cross_origin");
            const { error, message } = JSON.parse(body) as { error: string; message: string };
            assert.equal(error, "cross_origin");
            assert.match(message, /trusted_origins/);
          }
          assert.deepEqual(
            [pg1.received.length, reloads()],
            isTaken ? [Number(before[0]) + 2, Number(before[1]) + 3] : before,
            given,
          );
          assert.equal((await sendRequest(`${node}/nodes/pg1/primary`, { headers })).status === 403, false, given);
          assert.equal((await sendRequest(`${exporter}/up`, { headers })).status, 200, given);
        }
      });
    });

    test("GET /reload is refused if a browser names no page, and POST and programs are not", async () => {
      await withEdge(workers, {}, async ({ exporter, reloads }) => {
        const browser = { "user-agent": firefox, accept: "image/avif,image/webp,*/*" };
        const refused = await sendRequest(`${exporter}/reload`, { headers: browser });
        assert.deepEqual([refused.status, refused.headers["x-rolecall-reason"]], [403, "cross_origin"]);
        assert.match(refused.body, /use POST, as with curl -X POST/);
        assert.equal(reloads(), 0);
        assert.equal((await sendRequest(`${exporter}/metrics`, { headers: browser })).status, 200);
        assert.equal((await sendRequest(`${exporter}/reload`)).body, "server reloaded");
        assert.equal((await sendRequest(`${exporter}/reload`, { method: "POST", headers: browser })).status, 200);
        assert.equal(reloads(), 2);
      });
    });

    test("GET /reload of an exporter listener is an unsafe request", async () => {
      await withEdge(workers, { allow: ["10.0.0.0/8"], allowFor: "unsafe" }, async ({ exporter, reloads }) => {
        for (const path of ["/reload", "/reload?x=1", "/%72eload", "http://127.0.0.1/reload"]) {
          const answer = await sendRequest(exporter, { tls: { path } });
          assert.equal(answer.status, 403, path);
          assert.match(answer.body, /not_allowed/);
        }
        assert.equal((await sendRequest(`${exporter}/up`)).status, 200);
        assert.equal((await sendRequest(`${exporter}/reload/`)).status, 404, "another path");
        assert.equal(reloads(), 0);
      });
      const auth = {
        for: "unsafe" as const,
        basic: [
          { user: "ann", scrypt: "scrypt$15$8$1$c29tZXNhbHRzb21lc2FsdA$RGlnZXN0IG9mIG5vIHBhc3N3b3JkIGF0IGFsbCEhISE" },
        ],
      };
      await withEdge(workers, { auth: { ...auth, bearer: [], certificate: false } }, async ({ exporter, reloads }) => {
        assert.equal((await sendRequest(`${exporter}/reload`)).status, 401);
        assert.equal((await sendRequest(`${exporter}/metrics`)).status, 200);
        assert.equal(reloads(), 0);
      });
    });
  });
}
