import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { stormByAutocannon } from "../../bench/autocannon.ts";
import { readH2load } from "../../bench/h2load.ts";
import { stormByOurselves } from "../../bench/load.ts";
import { soundTail, soundWeather, type Storm } from "../../bench/weather.ts";
import { readWrk } from "../../bench/wrk.ts";

const servers: Server[] = [];
after(() => {
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/primary`;
}

const wrkSays = `  15 requests in 2.01s, 7.03KB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 5
Requests/sec:    1234.50
Transfer/sec:      3.51KB
Strange: 2`;

describe("a storm", () => {
  const asked: Omit<Storm, "url"> = { seconds: 1, connections: 4 };

  test("asks HEAD, OPTIONS and GET, and takes no body with a HEAD", async () => {
    const seen = new Map<string, number>();
    const url = await serve((request, response) => {
      const { method = "" } = request;
      seen.set(method, (seen.get(method) ?? 0) + 1);
      response.setHeader("Content-Length", 5);
      response.end("hello");
    });
    const targets = (["HEAD", "OPTIONS", "GET"] as const).map((method) => ({ method, path: "/primary" }));
    const weather = await stormByOurselves({ ...asked, url, targets });
    assert.deepEqual(weather, { ...weather, failures: 0, unanswered: 0, strange: 0 });
    const counts = ["HEAD", "OPTIONS", "GET"].map((method) => seen.get(method) ?? 0);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= asked.connections, `in turn: ${counts.join(", ")}`);
    assert.ok(Math.min(...counts) > 0);
  });

  test("asks different targets by autocannon too", async () => {
    const seen = new Set<string>();
    const url = await serve((request, response) => {
      seen.add(`${request.method} ${request.url}`);
      response.end("hello");
    });
    const targets = [
      { method: "OPTIONS", path: "/primary" },
      { method: "GET", path: "/replica?lag=1" },
    ] as const;
    soundWeather(await stormByAutocannon({ ...asked, url, targets }), { ...asked, url });
    assert.deepEqual([...seen].sort(), ["GET /replica?lag=1", "OPTIONS /primary"]);
  });

  test("is no figure where the answers are errors, or none come", async () => {
    const failing = await serve((_request, response) => response.writeHead(503, { "Content-Length": 0 }).end());
    await assert.rejects(stormByOurselves({ ...asked, url: failing }), /must be answered 2xx/);
    const resetting = await serve((request) => request.socket.resetAndDestroy());
    await assert.rejects(stormByOurselves({ ...asked, url: resetting }), /no answer came/);
  });

  test("by wrk is read with all that failed", () => {
    assert.deepEqual(readWrk(wrkSays), { answersPerSecond: 1234.5, failures: 15, unanswered: 10, strange: 2 });
    const url = "http://a/";
    assert.throws(() => soundWeather(readWrk("unable to connect"), { ...asked, url }), /no answer came/);
    assert.throws(() => soundWeather(readWrk(wrkSays), { ...asked, url }), /5 were answered otherwise, 10 not at all/);
    assert.doesNotThrow(() => soundWeather(readWrk(wrkSays), { ...asked, url, fatal: "none" }));
    assert.throws(() => soundWeather(readWrk(wrkSays), { ...asked, url, fatal: "statuses" }), /must be answered 2xx/);
  });
});

describe("a tail", () => {
  const answers = (status: string): string =>
    Array.from({ length: 1_000 }, (_, at) => `${1_700_000_000_000 + at}\t${status}\t${at + 1}\n`).join("");
  const pace = { rate: 500, seconds: 2 };

  test("by h2load is read from its log of all answers", () => {
    const tail = readH2load(answers("200"), 2);
    assert.deepEqual(tail, { by: "h2load", p99: 0.991, p999: 1, worst: 1, answersPerSecond: 500, failures: 0 });
    assert.equal(soundTail(tail, "http://a/", pace), tail);
  });

  test("is no figure where questions failed, or too few were answered", () => {
    assert.throws(() => soundTail(readH2load(answers("-1"), 2), "http://a/", pace), /1000 were not/);
    assert.throws(() => soundTail(readH2load(answers("503"), 2), "http://a/", pace), /1000 were not/);
    assert.throws(
      () => soundTail(readH2load(answers("200"), 2), "http://a/", { ...pace, rate: 1_000 }),
      /1000 questions a second must be/,
    );
    assert.throws(() => soundTail(readH2load("", 2), "http://a/", pace), /0 were/);
  });
});
