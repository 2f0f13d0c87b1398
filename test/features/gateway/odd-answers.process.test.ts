import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { HttpAnswer } from "../../fake/http-request.ts";
import { rawNodesFixture, type RawNodesFixture } from "../../fake/raw-nodes-fixture.ts";
import type { RawAnswer } from "../../fake/raw-node.ts";

interface Row {
  readonly given: string;
  /** What the node writes before it closes, as latin1. */
  readonly bytes: string;
  /** What the client receives: a status, an incomplete answer, or `any` of these and 502. */
  readonly status: number | "broken" | "any";
}

const rows = JSON.parse(readFileSync("test/spec/gateway/odd-answers.json", "utf8")) as readonly Row[];

/** Every path on which an answer of a node, or of an exporter, reaches a client. */
const ways: readonly (readonly [way: string, ask: (edge: RawNodesFixture, id: string) => Promise<HttpAnswer>])[] = [
  [
    "a call to a node",
    (edge, id) => edge.request("/nodes/pg2/restart", { method: "POST", headers: { "x-request-id": id } }),
  ],
  [
    "a call to the leader",
    (edge, id) => edge.request("/config", { method: "PATCH", body: { ttl: 30 }, headers: { "x-request-id": id } }),
  ],
  ["the metrics of a node", (edge, id) => edge.request("/nodes/pg2/metrics", { headers: { "x-request-id": id } })],
  [
    "a page of an exporter",
    (edge, id) => edge.request("/nodes/pg2/exporter/metrics", { headers: { "x-request-id": id } }),
  ],
];

for (const workers of [0, 2]) {
  suite(`odd answers of nodes, with ${workers} workers`, { timeout: 120_000 }, () => {
    test("cost the one call: no other connection, no process, no worker", async (context) => {
      const answersById = new Map<string, RawAnswer>();
      const edge = await rawNodesFixture(context, {
        workers,
        answer: ({ headers }) => answersById.get(headers.get("x-request-id") ?? "") ?? null,
      });
      const check = await edge.holdConnection();
      const wrong: string[] = [];
      for (const { given, bytes, status } of rows) {
        for (const [at, [way, ask]] of ways.entries()) {
          const id = `${rows.findIndex((row) => row.given === given && row.bytes === bytes)}-${at}`;
          answersById.set(id, { pieces: [Buffer.from(bytes, "latin1")], end: "close" });
          const received = await ask(edge, id).then(
            (answer) => answer.status,
            () => "broken" as const,
          );
          if (status === "any" || received === status) continue;
          wrong.push(`${given}, ${way}: ${received}, not ${status}`);
        }
        assert.equal(await check(), "HTTP/1.1 200 OK", given);
      }
      assert.deepEqual(wrong, []);
      assert.equal(edge.rolecall.process.exitCode, null);
      assert.equal(await edge.metric("rolecall_workers_lost_total"), 0);
      assert.equal(await edge.metric("rolecall_contained_errors_total"), 0);
      assert.doesNotMatch(edge.rolecall.stderr, /internal error|answer failed|connection failed/);
    });
  });
}
