import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { loadByAutocannon } from "../../bench/autocannon.ts";
import { readH2load } from "../../bench/h2load.ts";
import { runLoadByOwnProgram } from "../../bench/load.ts";
import { checkLatencyResult, checkLoadResult, type Load } from "../../bench/load-result.ts";
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

const wrkOutput = `  15 requests in 2.01s, 7.03KB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 5
Requests/sec:    1234.50
Transfer/sec:      3.51KB
Strange: 2`;

describe("a load", () => {
  const load: Omit<Load, "url"> = { seconds: 1, connections: 4 };

  test("sends HEAD, OPTIONS and GET, and expects no body after a HEAD", async () => {
    const seen = new Map<string, number>();
    const url = await serve((request, response) => {
      const { method = "" } = request;
      seen.set(method, (seen.get(method) ?? 0) + 1);
      response.setHeader("Content-Length", 5);
      response.end("hello");
    });
    const targets = (["HEAD", "OPTIONS", "GET"] as const).map((method) => ({ method, path: "/primary" }));
    const result = await runLoadByOwnProgram({ ...load, url, targets });
    assert.deepEqual(result, { ...result, failures: 0, unanswered: 0, strange: 0 });
    const counts = ["HEAD", "OPTIONS", "GET"].map((method) => seen.get(method) ?? 0);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= load.connections, `in turn: ${counts.join(", ")}`);
    assert.ok(Math.min(...counts) > 0);
  });

  test("sends different requests with autocannon too", async () => {
    const seen = new Set<string>();
    const url = await serve((request, response) => {
      seen.add(`${request.method} ${request.url}`);
      response.end("hello");
    });
    const targets = [
      { method: "OPTIONS", path: "/primary" },
      { method: "GET", path: "/replica?lag=1" },
    ] as const;
    checkLoadResult(await loadByAutocannon({ ...load, url, targets }), { ...load, url });
    assert.deepEqual([...seen].sort(), ["GET /replica?lag=1", "OPTIONS /primary"]);
  });

  test("fails if the answers are errors or none arrives", async () => {
    const failing = await serve((_request, response) => response.writeHead(503, { "Content-Length": 0 }).end());
    await assert.rejects(runLoadByOwnProgram({ ...load, url: failing }), /must be answered 2xx/);
    const resetting = await serve((request) => request.socket.resetAndDestroy());
    await assert.rejects(runLoadByOwnProgram({ ...load, url: resetting }), /got no answer/);
  });

  test("counts every kind of failure that wrk reports", () => {
    assert.deepEqual(readWrk(wrkOutput), { answersPerSecond: 1234.5, failures: 15, unanswered: 10, strange: 2 });
    const url = "http://a/";
    assert.throws(() => checkLoadResult(readWrk("unable to connect"), { ...load, url }), /got no answer/);
    assert.throws(
      () => checkLoadResult(readWrk(wrkOutput), { ...load, url }),
      /got 5 other answers and 10 requests without an answer/,
    );
    assert.doesNotThrow(() => checkLoadResult(readWrk(wrkOutput), { ...load, url, fatal: "none" }));
    assert.throws(
      () => checkLoadResult(readWrk(wrkOutput), { ...load, url, fatal: "statuses" }),
      /must be answered 2xx/,
    );
  });
});

describe("latencies at a fixed rate", () => {
  const answers = (status: string): string =>
    Array.from({ length: 1_000 }, (_, at) => `${1_700_000_000_000 + at}\t${status}\t${at + 1}\n`).join("");
  const pace = { rate: 500, seconds: 2 };

  test("are read from the log of h2load", () => {
    const tail = readH2load(answers("200"), 2);
    const figures = { p99: 0.991, p999: 1, worst: 1, answersPerSecond: 500, failures: 0 };
    assert.deepEqual(tail, { by: "h2load", ...figures, worstSecond: { p99: 0.991, p999: 1 } });
    assert.equal(checkLatencyResult(tail, "http://a/", pace), tail);
  });

  test("are those of the worst second, which a stall leaves with fewer requests", () => {
    const second = (startUs: number, count: number, us: number): string =>
      Array.from({ length: count }, (_, at) => `${startUs + at}\t200\t${us}\n`).join("");
    const log = second(5_000_000, 1_000, 500) + second(6_000_000, 100, 90_000) + second(7_000_000, 1_000, 700);
    assert.deepEqual(readH2load(log, 3).worstSecond, { p99: 90, p999: 90 });
  });

  test("fail if requests failed or too few were answered", () => {
    assert.throws(() => checkLatencyResult(readH2load(answers("-1"), 2), "http://a/", pace), /got 1000 failures/);
    assert.throws(() => checkLatencyResult(readH2load(answers("503"), 2), "http://a/", pace), /got 1000 failures/);
    assert.throws(
      () => checkLatencyResult(readH2load(answers("200"), 2), "http://a/", { ...pace, rate: 1_000 }),
      /1000 requests per second must be answered/,
    );
    assert.throws(() => checkLatencyResult(readH2load("", 2), "http://a/", pace), /got 0 /);
  });
});
