import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { failureOf } from "../../../src/probe/client/failure.ts";
import { logDocumentFailures } from "../../../src/events/document-failure-log.ts";
import { pino } from "pino";
import { listenDuringTest } from "../../fake/listen.ts";

function errorWith(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code });
}

test("what this machine lacks is never the node's failure; what the node or the way there does is", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["EMFILE", "not_sent"],
    ["ENFILE", "not_sent"],
    ["ENOBUFS", "not_sent"],
    ["ENOMEM", "not_sent"],
    ["EADDRNOTAVAIL", "not_sent"],
    ["EADDRINUSE", "not_sent"],
    ["EAGAIN", "not_sent"],
    ["EAI_MEMORY", "not_sent"],
    ["ECONNREFUSED", "refused"],
    ["ECONNRESET", "reset"],
    ["EHOSTUNREACH", "unreachable"],
    ["ENETUNREACH", "unreachable"],
    ["ENOTFOUND", "unreachable"],
    ["ETIMEDOUT", "timeout"],
  ];
  for (const [code, kind] of rows) assert.equal(failureOf(errorWith(code)).kind, kind, code);
});

test("of a name with several addresses one that the node itself refused speaks for all, in whatever order", () => {
  const errors = [errorWith("EADDRNOTAVAIL"), errorWith("ECONNREFUSED")];
  for (const order of [errors, errors.toReversed()]) assert.equal(failureOf(new AggregateError(order)).kind, "refused");
  assert.equal(failureOf(new AggregateError([errorWith("EMFILE"), errorWith("EMFILE")])).kind, "not_sent");
});

/** Probes one address three times: with descriptors, without one left, and with them again. */
const script = `
const { NodeClient } = await import(process.argv[1]);
const { openSync, closeSync } = await import("node:fs");
const client = () => new NodeClient(process.argv[2], { connectTimeoutMs: 1000, timeoutMs: 2000 }, null);
const ask = async () => { const one = client(); const reply = await one.get("/leader"); one.close(); return reply.status ?? reply.failure.kind; };
const found = [await ask()];
const held = [];
try { for (;;) held.push(openSync("/dev/null")); } catch {}
found.push(await ask());
for (const fd of held) closeSync(fd);
found.push(await ask());
process.stdout.write(found.join());
`;

test("a process without descriptors has not asked the node", async (context) => {
  const port = await listenDuringTest(
    context,
    createServer((_, response) => void response.writeHead(200, { connection: "close" }).end("{}")),
  );
  const module = pathToFileURL(join(import.meta.dirname, "..", "..", "..", "src", "probe", "client", "client.js")).href;
  const args = [
    "-c",
    'ulimit -n 64; exec "$0" "$@"',
    process.execPath,
    "--input-type=module",
    "-e",
    script,
    module,
    `http://127.0.0.1:${port}`,
  ];
  const { stdout } = await promisify(execFile)("sh", args);
  assert.equal(stdout, "200,not_sent,200");
});

test("probes that were not sent are logged at once and then every ten seconds, with how many", () => {
  const lines: { msg: string; count: number }[] = [];
  let nowMs = 0;
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const snapshot = () => ({ instance: "run", sequence: 0, clusters: [], index: new Map() });
  const { onProbeFinished } = logDocumentFailures(
    { record: () => {}, onProbeFinished: () => {}, now: () => nowMs, snapshot },
    log,
  );
  const asked = { cluster: "demo", node: "pg1", endpoint: "leader", durationMs: 0 };
  for (; nowMs < 25_000; nowMs += 100) onProbeFinished({ ...asked, outcome: "not_sent" });
  onProbeFinished({ ...asked, outcome: "refused" });
  assert.deepEqual(
    lines.map(({ count }) => count),
    [1, 100, 100],
  );
});
