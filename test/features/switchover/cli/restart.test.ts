import assert from "node:assert/strict";
import { createServer } from "node:http";
import { suite, test, type TestContext } from "node:test";
import { runText } from "../../../fake/command-line.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { begunRun, switchedRun } from "../../../fake/run-documents.ts";

const step = (name: string, afterMs: number, text: string | null = null): object => ({
  step: name,
  text,
  after_ms: afterMs,
});
const restarted = {
  ...switchedRun,
  start: "restart",
  candidate: null,
  forecast_ms: null,
  preflight: [{ level: "ok", subject: "pg1", text: "the leader runs since 2026-11-30 04:00:00+00:00", hint: null }],
  steps: [
    step("checked", 1_120),
    step("armed", 1_200),
    step("paused", 1_210),
    step("requested", 1_210),
    step("restarted", 2_900, "pg1"),
    step("routed", 2_950),
    step("resuming", 2_950),
    step("resumed", 3_012),
  ],
  outcome: { kind: "restarted", node: "pg1" },
  text: "pg1 has been restarted, and clients go on there.",
};

/** An admin server that begins a run, and shows it as it ended. */
async function serve(
  context: TestContext,
  end: object,
  begun: readonly [status: number, document: object] = [202, { run: "r1", cluster: "demo", node: "pg1" }],
): Promise<{ readonly url: string; readonly received: readonly string[] }> {
  const received: string[] = [];
  const documents = [{ ...begunRun, start: "restart", candidate: null }, end];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const isCall = request.method === "POST";
      if (isCall) received.push(`${request.url} ${text}`);
      const shown = documents.length > 1 ? documents.shift() : documents[0];
      response.writeHead(isCall ? begun[0] : 200, { "Content-Type": "application/json" });
      response.end(JSON.stringify(isCall ? begun[1] : shown));
    });
  });
  return { url: `http://127.0.0.1:${await listenDuringTest(context, server)}`, received };
}

const argvOf = (url: string, ...more: readonly string[]): readonly string[] => [
  "node",
  "restart",
  "demo/pg1",
  "--seamless",
  "--yes",
  "--server",
  url,
  ...more,
];

suite("rolecall node restart --seamless", () => {
  test("prints the checks, each step with its time, and how long clients were held", async (context) => {
    const { url, received } = await serve(context, restarted);
    const { code, out, err } = await runText(argvOf(url, "--pending", "--deadline", "20s", "--unguarded"));
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(
      out,
      `ok       pg1: the leader runs since 2026-11-30 04:00:00+00:00
  1.120 s  checked: nothing speaks against it
  1.200 s  armed: what will be paused is on the disk, and everything that can resume it is ready
  1.210 s  paused: clients wait
  1.210 s  requested: pg1 is asked to restart its database
  2.900 s  restarted: pg1 has been restarted
  2.950 s  routed: the routes lead there
  2.950 s  resuming: clients may go on
  3.012 s  resumed: nothing is paused any more
pgb1/orders: clients were held for 1.790 s
pg1 has been restarted, and clients go on there.
`,
    );
    assert.deepEqual(received, [
      '/clusters/demo/nodes/pg1/restart {"seamless":true,"restart_pending":true,"deadline":"20000ms","unguarded":true}',
    ]);
  });

  test("is a finding if another node has taken over", async (context) => {
    const outcome = { kind: "switched", node: "pg2" };
    const { url } = await serve(context, { ...restarted, outcome, text: "pg2 is the primary" });
    const { code, out: err } = await runText(argvOf(url));
    assert.equal(code, 1);
    assert.match(err, /RC213.*demo: pg2 is the primary: pg1 did not come back as the primary/);
  });

  test("is a finding if a pooler could not be finished, although the database is back", async (context) => {
    const left = [{ target: "pgb1/orders", state: "paused", problem: "its console hangs" }];
    const outcome = { kind: "unfinished", of: { kind: "restarted", node: "pg1" }, left };
    const { url } = await serve(context, { ...restarted, outcome, text: "pg1 has been restarted." });
    const { code, out: err } = await runText(argvOf(url));
    assert.equal(code, 1);
    assert.match(err, /RC212.*clients of pgb1\/orders may still wait: its console hangs/);
    assert.doesNotMatch(err, /RC211|RC213/);
  });

  test("says what to do if the server has no pooler for the node", async (context) => {
    const refusal = { error: "no_pooler", message: "Cannot restart pg1 of demo seamlessly" };
    const { url } = await serve(context, restarted, [409, refusal]);
    const { code, out: err } = await runText(argvOf(url));
    assert.equal(code, 1);
    assert.match(err, /Configure poolers, or restart without --seamless\. Nothing was changed\./);
  });

  for (const [options, message] of [
    [["--seamless", "--at", "2027-01-31T03:00:00Z"], "--at must be given without --seamless"],
    [["--seamless", "--cancel"], "--cancel must be given without --seamless"],
    [["--seamless", "--role", "primary"], "--role must be given without --seamless"],
    [["--seamless", "--wait", "20s"], "--wait must be given without --seamless"],
    [["--deadline", "20s"], "--deadline must be given with --seamless"],
    [["--unguarded"], "--unguarded must be given with --seamless"],
  ] as const)
    test(`refuses ${options.join(" ")}`, async () => {
      const { code, err } = await runText(["node", "restart", "demo/pg1", "--yes", ...options]);
      assert.equal(code, 2);
      assert.ok(err.includes(message), err);
    });
});
