import assert from "node:assert/strict";
import type { RequestListener, ServerResponse } from "node:http";
import { suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";
import { nodeOf } from "../../fake/config.ts";
import { openFakeNode } from "../../fake/fake-node.ts";
import { gatewayFixtureOf } from "../../fake/gateway-fixture.ts";
import { statusDocument } from "../../fake/node-documents.ts";

/** How a node misbehaves, and the reason in the status phrase of its checks. */
interface Row {
  readonly given: string;
  readonly instead: RequestListener;
  readonly phrase: RegExp;
}

const document = JSON.stringify(statusDocument("pg2"));
const say =
  (body: string, status = 503): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(body);
const sayDocument = (parts: Readonly<Record<string, unknown>>): RequestListener =>
  say(JSON.stringify({ ...statusDocument("pg2"), ...parts }));

const rows: readonly Row[] = [
  { given: "answers byte by byte", instead: (_, response) => drip(response), phrase: /^down timeout$/ },
  { given: "never answers", instead: () => {}, phrase: /^down timeout$/ },
  {
    given: "sends a head and no body",
    instead: (_, response) => void response.writeHead(503).write(" "),
    phrase: /^down timeout$/,
  },
  { given: "sends an endless body", instead: (_, response) => flood(response), phrase: /^down too_large$/ },
  { given: "answers with truncated JSON", instead: say(document.slice(0, 40)), phrase: /^down body$/ },
  { given: "answers with an HTML page", instead: say("<html>It works!</html>", 200), phrase: /^down body$/ },
  { given: "answers with an empty body", instead: say(""), phrase: /^down body$/ },
  { given: "answers in chunks of one byte", instead: (_, response) => crumble(response), phrase: /^down too_large$/ },
  {
    given: "answers with a document of more than 256 kB",
    instead: sayDocument({ junk: "x".repeat(256 * 1024) }),
    phrase: /^down too_large$/,
  },
  {
    given: "answers with a huge number of keys",
    instead: sayDocument(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key${at}`, at]))),
    phrase: /^down too_large$/,
  },
  {
    given: "answers with a huge number of values",
    instead: sayDocument({ junk: Array.from({ length: 50_000 }, () => ({})) }),
    phrase: /^down too_large$/,
  },
  {
    given: "answers with a compressed document",
    instead: (_, response) => void response.writeHead(503, { "content-encoding": "gzip" }).end(gzipSync(document)),
    phrase: /^down body$/,
  },
  {
    given: "answers with duplicate keys, the last of which counts as it does for Python",
    instead: say(`{"state": "stopped", ${document.slice(1, -1)}, "role": "replica", "role": 7}`),
    phrase: /^down body$/,
  },
  {
    given: "answers with JSON nested a hundred thousand deep",
    instead: say(`${'{"state":'.repeat(100_000)}1${"}".repeat(100_000)}`),
    phrase: /^down too_large$/,
  },
  {
    given: "answers with a deeply nested tag",
    instead: say(`${document.slice(0, -1)},"tags":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    phrase: /^down body$/,
  },
  { given: "answers with a JSON list", instead: say("[1, 2]"), phrase: /^down body$/ },
  {
    given: "answers with fields of the wrong types",
    instead: sayDocument({ state: 5, role: { a: 1 } }),
    phrase: /^down body$/,
  },
  {
    given: "answers with line breaks in its role",
    instead: sayDocument({ role: "primary\r\nX-Injected: 1" }),
    phrase: /^down body$/,
  },
  {
    given: "answers with a redirect",
    instead: (_, response) => void response.writeHead(302, { location: "/" }).end(),
    phrase: /^down status$/,
  },
  {
    given: "sends endless headers",
    instead: (request) => void request.socket.write(`HTTP/1.1 503 No\r\nX: ${"x".repeat(100_000)}`),
    phrase: /^down too_large$/,
  },
  {
    given: "answers with bytes that are not HTTP",
    instead: (request) => void request.socket.end("\u0016\u0003\u0001 hello\r\n\r\n"),
    phrase: /^down body$/,
  },
  {
    given: "answers with another cluster's document",
    instead: sayDocument({ patroni: { version: "4.1.4", scope: "other", name: "pg2" } }),
    phrase: /^foreign scope other$/,
  },
  {
    given: "answers with another node's document",
    instead: sayDocument({ patroni: { version: "4.1.4", scope: "demo", name: "pg7" } }),
    phrase: /^misaddressed pg7$/,
  },
  {
    given: "answers with another database's document",
    instead: sayDocument({ database_system_identifier: "8" }),
    phrase: /^foreign/,
  },
];

suite("a hostile node is a hard no with a reason, and affects no other node", { concurrency: 6 }, () => {
  for (const { given, instead, phrase } of rows) {
    test(`a node that ${given}`, async () => {
      const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
      const pg3 = await openFakeNode({ name: "pg3", holdsLock: false });
      const pg2 = await openFakeNode({ name: "pg2", holdsLock: false, handler: instead });
      const gateway = await gatewayFixtureOf([pg1, pg2, pg3].map((node) => nodeOf(node)));
      try {
        const answer = await until("a reason", async () => {
          const found = await sendRequest(`${gateway.checksUrl}/nodes/pg2/replica?miss=404`);
          return found.headers["x-rolecall-reason"] === "unknown" ? undefined : found;
        });
        assert.equal(answer.status, 503);
        assert.match(answer.phrase, phrase);
        assert.equal(answer.headers["x-injected"], undefined);
        assert.doesNotThrow(() => JSON.parse(answer.body));
        assert.equal((await sendRequest(`${gateway.checksUrl}/nodes/pg1/primary`)).status, 200);
        assert.equal((await sendRequest(`${gateway.checksUrl}/nodes/pg3/replica`)).status, 200);
        assert.equal((await sendRequest(`${gateway.adminUrl}/metrics`)).status, 200);
      } finally {
        await gateway.close();
        await Promise.all([pg1, pg2, pg3].map((node) => node.close()));
      }
    });
  }
});

/** Sends a document of 200 kB in chunks of one byte. */
function crumble(response: ServerResponse): void {
  response.writeHead(503, { "transfer-encoding": "chunked" }).flushHeaders();
  response.socket?.end(`${"1\r\nx\r\n".repeat(200_000)}0\r\n\r\n`);
}

function drip(response: ServerResponse): void {
  response.writeHead(503);
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
}

/** Sends as much as the client reads, up to a gigabyte. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, " ");
  let left = 16_384;
  const pour = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) {
        response.once("drain", pour);
        return;
      }
    }
  };
  response.writeHead(503);
  pour();
}
