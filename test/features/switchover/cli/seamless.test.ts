import assert from "node:assert/strict";
import { createServer } from "node:http";
import { suite, test, type TestContext } from "node:test";
import { runJson, runText } from "../../../fake/command-line.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import {
  begunRun as begun,
  checkedRun as checked,
  endedRun as ended,
  runSteps as steps,
  switchedRun as switched,
} from "../../../fake/run-documents.ts";

/** An answer of the server: its status and its body; `cut`: it closes the connection. */
type Answer = readonly [number, unknown] | "cut";

/** An admin server that answers each path with its next answer; the last one stays. */
async function serve(
  context: TestContext,
  answers: Readonly<Record<string, readonly Answer[]>>,
): Promise<{ readonly url: string; readonly received: readonly string[] }> {
  const received: string[] = [];
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const key = `${request.method} ${request.url}`;
      if (request.method !== "GET") received.push(`${key} ${text}`);
      const list = answers[key] ?? [[404, { error: "none", message: `nothing at ${key}` }]];
      const at = asked.get(key) ?? 0;
      asked.set(key, at + 1);
      const answer = list[Math.min(at, list.length - 1)];
      if (answer === undefined || answer === "cut") return void request.socket.destroy();
      response.writeHead(answer[0], { "Content-Type": "application/json" }).end(JSON.stringify(answer[1]));
    });
  });
  return { url: `http://127.0.0.1:${await listenDuringTest(context, server)}`, received };
}

const post = "POST /clusters/demo/switchover";
const run = "GET /clusters/demo/switchover/run?run=r1";
const accepted: readonly Answer[] = [[202, { run: "r1", cluster: "demo" }]];
const argvOf = (url: string, ...more: readonly string[]): readonly string[] => [
  "switchover",
  "demo",
  "--to",
  "pg2",
  "--seamless",
  "--yes",
  "--server",
  url,
  ...more,
];

test("prints the checks, each step once with its time, and how long clients were held", async (context) => {
  const { url, received } = await serve(context, {
    [post]: accepted,
    [run]: [
      [200, begun],
      [200, begun],
      [200, checked],
      [200, { ...checked, steps: steps.slice(0, 4) }],
      [200, switched],
    ],
  });
  const { code, out, err } = await runText(argvOf(url));
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(
    out,
    `ok       leader: pg1 is the only primary that takes writes
warning  pgb1: server_login_retry must be at most 1 (s)
         Set it to 1.
  1.120 s  checked: nothing speaks against it
  1.200 s  armed: what will be paused is on the disk, and everything that can resume it is ready
  1.210 s  paused: clients wait
  1.210 s  requested: the cluster is asked to switch over
  1.300 s  pgb1/orders closed the connection
  2.900 s  writable: pg2 takes writes
  2.950 s  routed: the routes lead there
  2.950 s  resuming: clients may go on
  3.012 s  resumed: nothing is paused any more
pgb1/orders: clients were held for 1.790 s
the forecast was 1.900 s
pg2 is the primary, and clients go on there.
`,
  );
  assert.deepEqual(received, [
    `${post} {"seamless":true,"leader":null,"candidate":"pg2","deadline":"15000ms","route_wait":"1000ms","unguarded":false}`,
  ]);
});

test("the document has the run as the server shows it", async (context) => {
  const { url, received } = await serve(context, {
    [`${post}?dry_run=1`]: accepted,
    [run]: [[200, ended("dry_run", "")]],
  });
  const options = ["--dry-run", "--deadline", "20s", "--route-wait", "250ms", "--unguarded", "--leader", "pg1"];
  const document = await runJson(argvOf(url, ...options));
  assert.deepEqual([document.exit_code, document.diagnostics], [0, []]);
  assert.deepEqual(document.data, ended("dry_run", ""));
  assert.deepEqual(received, [
    `${post}?dry_run=1 {"seamless":true,"leader":"pg1","candidate":"pg2","deadline":"20000ms","route_wait":"250ms","unguarded":true}`,
  ]);
});

suite("a run that does not end well is a finding", () => {
  for (const [kind, rule] of [
    ["refused", "RC210"],
    ["aborted", "RC210"],
    ["rejected", "RC210"],
    ["unknown", "RC211"],
    ["no_primary", "RC211"],
    ["what a later version says", "RC211"],
  ] as const)
    test(kind, async (context) => {
      const { url } = await serve(context, { [post]: accepted, [run]: [[200, ended(kind, `It ended as ${kind}.`)]] });
      const { exit_code: code, diagnostics } = await runJson(argvOf(url));
      assert.deepEqual(
        [code, diagnostics.map(({ rule_id: id, message }) => [id, message])],
        [1, [[rule, `demo: It ended as ${kind}.`]]],
      );
    });
});

test("a pooler that is left, and another node than was asked for, are findings of their own", async (context) => {
  const outcome = {
    kind: "unfinished",
    of: { kind: "switched", node: "pg3" },
    left: [
      { target: "pgb1/orders", state: "paused", problem: "the connection was refused" },
      { target: "pgb2/orders", state: "unrouted", problem: null },
    ],
  };
  const { url } = await serve(context, {
    [post]: accepted,
    [run]: [[200, { ...switched, outcome, text: "pg3 is the primary, not pg2 as asked." }]],
  });
  const { exit_code: code, diagnostics } = await runJson(argvOf(url));
  assert.equal(code, 1);
  assert.deepEqual(
    diagnostics.map(({ rule_id: id, severity, message }) => [id, severity, message]),
    [
      ["RC212", "error", "demo: clients of pgb1/orders may still wait: the connection was refused"],
      ["RC212", "error", "demo: pgb2/orders was not seen to lead to pg3"],
      ["RC213", "error", "demo: pg3 is the primary, not pg2 as asked"],
    ],
  );
});

suite("a call that the server refuses changes nothing", () => {
  for (const [status, error, action] of [
    [409, "running", "Wait until it has ended."],
    [409, "no_pooler", "Configure poolers, or switch over without --seamless."],
    [403, "management_off", "Set management: on, and auth, for the admin listener of rolecall."],
    [403, "unauthenticated", "Set auth for the admin listener, and pass its credential (--token-file)."],
    [400, "bad_request", "rolecall refused the call: correct what the message names."],
  ] as const)
    test(`${status} ${error}`, async (context) => {
      const { url } = await serve(context, { [post]: [[status, { error, message: `no: ${error}` }]] });
      const { exit_code: code, diagnostics } = await runJson(argvOf(url));
      assert.deepEqual(
        [code, diagnostics.map(({ rule_id: id, message, action: next }) => [id, message, next])],
        [1, [["RC060", `${post} answered ${status}: no: ${error}`, `${action} Nothing was changed.`]]],
      );
    });
});

test("a server that knows no seamless switchover may have switched over", async (context) => {
  const { url } = await serve(context, { [post]: [[200, "Successfully switched over"]] });
  const { exit_code: code, diagnostics } = await runJson(argvOf(url));
  assert.deepEqual([code, diagnostics.map(({ rule_id: id }) => id)], [1, ["RC211"]]);
});

test("goes on after a moment without an answer", async (context) => {
  const { url } = await serve(context, {
    [post]: accepted,
    [run]: [[200, checked], "cut", [503, { message: "starting" }], [200, switched]],
  });
  assert.equal((await runJson(argvOf(url))).exit_code, 0);
});

suite("a run that cannot be followed to its end is incomplete", () => {
  for (const [name, answers, message] of [
    ["the server is gone", ["cut"], /does not answer$/],
    ["the server knows no run", [[404, { error: "no_run", message: "this process has begun none" }]], /begun none$/],
    ["another run has begun", [[200, { ...begun, run: "r2" }]], /another one \(r2\) has begun since$/],
    ["what it says is no run", [[200, { run: 7 }]], /^Cannot follow the switchover to its end: /],
  ] as const)
    test(name, async (context) => {
      const { url } = await serve(context, { [post]: accepted, [run]: [[200, checked], ...answers] });
      const { exit_code: code, diagnostics } = await runJson(argvOf(url, "--timeout", "300ms"));
      assert.deepEqual([code, diagnostics.map(({ rule_id: id }) => id)], [2, ["RC211", "RC003"]]);
      assert.match(diagnostics[0]?.message ?? "", message);
    });
});

test("--resume lifts what is paused, and names what may still be", async (context) => {
  const path = "POST /clusters/demo/switchover/resume";
  const problem = { target: "pgb2/orders", problem: "no complete answer within 1000 ms" };
  const { url, received } = await serve(context, {
    [path]: [[200, { resumed: ["pgb1/orders"], problems: [problem] }]],
  });
  const { code, out } = await runText(["switchover", "demo", "--resume", "--yes", "--server", url]);
  assert.equal(code, 1);
  assert.match(out, /^pgb1\/orders is not paused\nerror RC211 {2}pgb2\/orders may still be paused: no complete answer/);
  assert.deepEqual(received, [`${path} {}`]);
});

suite("options that do not belong together", () => {
  for (const [argv, message] of [
    [["--seamless", "--at", "2026-01-31T03:00:00Z"], "--seamless must be given without --at"],
    [["--seamless", "--cancel"], "--seamless must be given without --cancel"],
    [["--resume", "--seamless"], "--seamless must be given without --resume"],
    [["--resume", "--dry-run"], "--resume must be given without --dry-run"],
    [["--deadline", "10s"], "--deadline must be given with --seamless"],
    [["--route-wait", "1s", "--cancel"], "--route-wait must be given with --seamless"],
    [["--unguarded"], "--unguarded must be given with --seamless"],
    [["--seamless", "--cluster", "other"], "the argument CLUSTER and --cluster must be the same, got demo and other"],
    [["--to", "pg2", "--candidate", "pg3"], "--to and --candidate must be the same, got pg2 and pg3"],
    [["--seamless", "--deadline", "soon"], '--deadline must be a duration such as 500ms, 30s, 30m or 14d, got "soon"'],
  ] as const)
    test(argv.join(" "), async (context) => {
      const { url } = await serve(context, {});
      const { exit_code: code, diagnostics } = await runJson(["switchover", "demo", ...argv, "--yes", "--server", url]);
      assert.deepEqual([code, diagnostics[0]?.rule_id, diagnostics[0]?.message], [2, "RC001", message]);
    });
});

test("the plain switchover takes the cluster as an argument, and --to", async (context) => {
  const { url, received } = await serve(context, { [post]: [[200, "Successfully switched over"]] });
  const { exit_code: code } = await runJson([
    "switchover",
    "demo",
    "--leader",
    "pg1",
    "--to",
    "pg2",
    "--yes",
    "--server",
    url,
  ]);
  assert.equal(code, 0);
  assert.deepEqual(received, [`${post} {"leader":"pg1","candidate":"pg2"}`]);
});

test("without an argument it is the only cluster; of several one must be named", async (context) => {
  const status = (...names: readonly string[]): readonly Answer[] => {
    const clusters = names.map((cluster) => ({ cluster, nodes: [], situation: {} }));
    return [[200, { instance: "aa", snapshot: 1, clusters }]];
  };
  const one = await serve(context, { "GET /status": status("demo"), [post]: accepted, [run]: [[200, switched]] });
  assert.equal((await runJson(["switchover", "--seamless", "--yes", "--server", one.url])).exit_code, 0);
  const two = await serve(context, { "GET /status": status("demo", "other") });
  const { diagnostics } = await runJson(["switchover", "--seamless", "--yes", "--server", two.url]);
  assert.match(diagnostics[0]?.message ?? "", /^CLUSTER must be given: one of demo, other$/);
  assert.deepEqual(two.received, []);
  const none = await runJson(["switchover", "--seamless", "--yes", "--server", "http://127.0.0.1:1"]);
  assert.deepEqual([none.exit_code, none.diagnostics[0]?.rule_id], [2, "RC005"]);
});
