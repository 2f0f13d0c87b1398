import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { logDocumentFailures } from "../../../../src/app/logs/document-failure-log.ts";
import { pino } from "pino";
import { listenDuringTest } from "../../../fake/listen.ts";

/** Probes one address three times: with descriptors, without one left, and with them again. */
const script = `
const { NodeClient } = await import(process.argv[1]);
const { openSync, closeSync } = await import("node:fs");
const client = () => new NodeClient(process.argv[2], { connectTimeoutMs: 1000, timeoutMs: 2000 }, null);
const probe = async () => { const one = client(); const reply = await one.get("/leader"); one.close(); return reply.status ?? reply.failure.kind; };
const found = [await probe()];
const held = [];
try { for (;;) held.push(openSync("/dev/null")); } catch {}
found.push(await probe());
for (const fd of held) closeSync(fd);
found.push(await probe());
process.stdout.write(found.join());
`;

test("a probe without a free file descriptor counts as not sent", async (context) => {
  const port = await listenDuringTest(
    context,
    createServer((_, response) => void response.writeHead(200, { connection: "close" }).end("{}")),
  );
  const module = pathToFileURL(
    join(import.meta.dirname, "..", "..", "..", "..", "src", "core", "probe", "client", "client.js"),
  ).href;
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

test("probes that were not sent are logged at once and then every ten seconds, with their number", () => {
  const lines: { msg: string; count: number }[] = [];
  let nowMs = 0;
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { onProbeFinished } = logDocumentFailures(
    { record: () => {}, onProbeFinished: () => {}, now: () => nowMs, cluster: () => undefined },
    log,
  );
  const result = { cluster: "demo", node: "pg1", endpoint: "leader", durationMs: 0 };
  for (; nowMs < 25_000; nowMs += 100) onProbeFinished({ ...result, outcome: "not_sent" });
  onProbeFinished({ ...result, outcome: "refused" });
  assert.deepEqual(
    lines.map(({ count }) => count),
    [1, 100, 100],
  );
});
