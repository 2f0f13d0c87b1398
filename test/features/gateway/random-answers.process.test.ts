import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import type { HttpAnswer } from "../../fake/http-request.ts";
import { rawNodesFixture, type RawNodesFixture } from "../../fake/raw-nodes-fixture.ts";
import { randomAnswer } from "../../fake/random-answer.ts";
import type { RawAnswer } from "../../fake/raw-node.ts";
import { until } from "../../fake/until.ts";

/** The number of answers for each number of workers. ODD_ANSWERS sets the number, ODD_SEED the seed. */
const count = Number(process.env["ODD_ANSWERS"] ?? 400);
const seed = Number(process.env["ODD_SEED"] ?? 11);
/** The number of requests in flight at a time. */
const together = 8;

const ways: readonly ((edge: RawNodesFixture, headers: Readonly<Record<string, string>>) => Promise<HttpAnswer>)[] = [
  (edge, headers) => edge.request("/nodes/pg2/restart", { method: "POST", headers }),
  (edge, headers) => edge.request("/switchover", { method: "POST", body: { leader: "pg1" }, headers }),
  (edge, headers) => edge.request("/config", { method: "PATCH", body: { ttl: 30 }, headers }),
  (edge, headers) => edge.request("/nodes/pg2/metrics", { headers }),
  (edge, headers) => edge.request("/nodes/pg2/exporter/stat", { headers }),
];

/** Headers that no answer of a node may pass on to a client. */
const forbidden = ["set-cookie", "trailer", "upgrade", "x-rolecall-relay", "server", "x-hop"];

for (const workers of [0, 2]) {
  suite(`random answers, with ${workers} workers`, { timeout: 60_000 + count * 50 }, () => {
    test("of nodes and exporters fail at most their own call", async (context) => {
      const answersById = new Map<string, RawAnswer>();
      const answers = fc.sample(randomAnswer, { numRuns: count, seed });
      const edge = await rawNodesFixture(context, {
        workers,
        answer: ({ headers }) => answersById.get(headers.get("x-request-id") ?? "") ?? null,
      });
      const check = await edge.holdConnection();
      const counts = new Map<number | "broken", number>();
      for (let from = 0; from < count; from += together) {
        await Promise.all(
          answers.slice(from, from + together).map(async (answer, at) => {
            const id = String(from + at);
            answersById.set(id, answer);
            const given = await ways[(from + at) % ways.length]?.(edge, { "x-request-id": id }).catch(() => null);
            answersById.delete(id);
            const key = given?.status ?? ("broken" as const);
            counts.set(key, (counts.get(key) ?? 0) + 1);
            const shown = JSON.stringify(Buffer.concat(answer.pieces).toString("latin1").slice(0, 300));
            for (const name of forbidden) assert.equal(given?.headers[name], undefined, `${name} of ${shown}`);
            assert.ok(!/evil/.test(given?.headers.location ?? ""), shown);
          }),
        );
        assert.equal(await check(), "HTTP/1.1 200 OK");
      }
      context.diagnostic(JSON.stringify(Object.fromEntries(counts)));
      assert.ok((counts.get(200) ?? 0) > 0 && (counts.get(502) ?? 0) > 0, "both kinds are among them");
      assert.equal(edge.rolecall.process.exitCode, null);
      assert.equal(await edge.metric("rolecall_workers_lost_total"), 0, edge.rolecall.stderr);
      assert.equal(await edge.metric("rolecall_contained_errors_total"), 0);
    });

    test("to probes do not affect the process, and later valid answers are accepted", async (context) => {
      const answers = fc.sample(randomAnswer, { numRuns: Math.min(count / 10, 1_000), seed });
      let next = 0;
      let isOdd = false;
      let requests = 0;
      // Every third answer is odd: a node that only fails is probed less and less often.
      const probes = (): RawAnswer | null => (isOdd && (requests += 1) % 3 === 0 ? (answers[next++] ?? null) : null);
      const edge = await rawNodesFixture(context, { workers, answer: () => null, probes });
      isOdd = true;
      await until({ what: "every answer is sent", seconds: 60 + count / 20 }, () => next >= answers.length);
      isOdd = false;
      await until(
        { what: "a fit primary after the answers", seconds: 30 },
        async () => (await edge.request("/nodes/pg1/primary")).status === 200,
      );
      assert.equal(edge.rolecall.process.exitCode, null);
      assert.equal(await edge.metric("rolecall_workers_lost_total"), 0, edge.rolecall.stderr);
      assert.equal(await edge.metric("rolecall_contained_errors_total"), 0);
    });
  });
}
