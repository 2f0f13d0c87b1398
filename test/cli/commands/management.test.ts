import assert from "node:assert/strict";
import { createServer, request as ask } from "node:http";
import { after, before, test } from "node:test";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";
import { runJson, runText } from "../../fake/command-line.ts";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { portOf } from "../../fake/listen.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";

let simulator: Simulator;
let forwarder: ReturnType<typeof createServer>;
let url: string;

/** A server that forwards calls to the node in the path, else to the first node, with the paths of the gateway. */
before(async () => {
  simulator = await startSimulator({ nodes: 3, port: 0, switchoverMs: 60, loopWaitMs: 100, ttlMs: 2_000 });
  forwarder = createServer((incoming, outgoing) => {
    const [, node, path = ""] = /^(?:\/clusters\/[^/]+)?(?:\/nodes\/([^/]+))?(\/.*)$/.exec(incoming.url ?? "") ?? [];
    const to = simulator.nodes.find(({ name }) => name === node) ?? simulator.nodes[0];
    const forwarded = ask(
      `${to?.url ?? ""}${path}`,
      { method: incoming.method ?? "GET", headers: incoming.headers },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => {
    forwarder.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${portOf(forwarder)}`;
});

after(async () => {
  forwarder.closeAllConnections();
  forwarder.close();
  await simulator.stop();
});

const manage = (...argv: readonly string[]): ReturnType<typeof runJson> => runJson([...argv, "--yes", "--server", url]);

function answerOf({ data }: Awaited<ReturnType<typeof runJson>>): { status: number; answer: unknown } {
  return data as { status: number; answer: unknown };
}

test("config shows the dynamic configuration and merges into it", async () => {
  const known = (await runJson(["cluster", "config", "--server", url])).data as Record<string, unknown>;
  assert.equal(known["maximum_lag_on_failover"], 1_048_576);
  const changed = answerOf(
    await manage(
      "cluster",
      "config",
      "--set",
      "maximum_lag_on_failover=null",
      "--set",
      "postgresql.parameters.work_mem=8MB",
    ),
  );
  assert.equal(changed.status, 200);
  const document = changed.answer as {
    maximum_lag_on_failover?: number;
    postgresql: { parameters: Record<string, unknown> };
  };
  assert.equal("maximum_lag_on_failover" in document, false);
  assert.equal(document.postgresql.parameters["work_mem"], "8MB");
  assert.equal(document.postgresql.parameters["wal_level"], "replica");
});

test("switchover finds the leader by itself and reports the response of the node", { timeout: 30_000 }, async () => {
  const done = await manage("switchover", "--candidate", "pg2");
  assert.equal(done.exit_code, 0, JSON.stringify(done.diagnostics));
  assert.match(String(answerOf(done).answer), /pg2/);
  const again = await manage("switchover", "--leader", "pg1", "--candidate", "pg3");
  assert.equal(again.exit_code, 1);
  assert.equal(answerOf(again).status, 412);
  assert.equal(again.diagnostics[0]?.rule_id, "RC060");
});

test("switchover is scheduled and cancelled", async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  assert.equal(answerOf(await manage("switchover", "--candidate", "pg3", "--at", at)).status, 202);
  assert.equal(answerOf(await manage("switchover", "--cancel")).status, 200);
  assert.equal((await manage("switchover", "--cancel")).exit_code, 1);
});

test("--at takes the times that the gateway takes", { timeout: 30_000 }, async () => {
  const server = await serveCannedAnswers(adminApiAnswers);
  for (const [at, isAccepted] of [
    ["2099-11-21T06:53+01", true],
    ["2099-11-21 06:53:47.25Z", true],
    ["2099-11-21t06:53z", true],
    ["2099-11-21T06:53:00+0130", true],
    ["2099-11-21T06:53", false],
    ["2099-02-30T06:53Z", false],
    ["2099-11-21T24:00Z", false],
    ["tomorrow", false],
  ] as const) {
    const argv = ["switchover", "--cluster", "demo", "--at", at, "--yes", "--server", server.url];
    const { diagnostics } = await runJson(argv);
    const isRefused = diagnostics.some(({ rule_id: id, message }) => id === "RC001" && message.includes("--at"));
    assert.equal(isRefused, !isAccepted, `${at}: ${JSON.stringify(diagnostics)}`);
  }
  await server.close();
});

test("restart, reload and reinitialize find the node by its name", { timeout: 30_000 }, async () => {
  assert.equal(answerOf(await manage("node", "restart", "pg3", "--wait", "20s")).status, 200);
  assert.equal(answerOf(await manage("node", "reload", "demo/pg3")).status, 202);
  assert.equal(answerOf(await manage("node", "reinitialize", "demo/pg3")).status, 200);
  const refused = await manage("node", "restart", "pg3", "--role", "primary");
  assert.equal(refused.exit_code, 1);
});

test("sends the options of calls as JSON to the paths of the gateway", async () => {
  const server = await serveCannedAnswers(adminApiAnswers);
  const send = (...argv: readonly string[]): ReturnType<typeof runJson> =>
    runJson([...argv, "--yes", "--server", server.url]);
  await send("switchover", "--cluster", "demo", "--candidate", "pg2", "--at", "2026-01-31T03:00:00Z");
  await send("cluster", "failover", "demo", "--to", "pg3", "--dry-run");
  await send(
    "node",
    "restart",
    "demo/pg2",
    "--pending",
    "--role",
    "replica",
    "--version",
    "15.4",
    "--wait",
    "90s",
    "--at",
    "2026-01-31T03:00:00+02:00",
  );
  await send("node", "reinitialize", "pg2", "--cluster", "demo", "--force", "--from-leader");
  await server.close();
  const sent = server.received.filter(({ method }) => method !== "GET");
  assert.deepEqual(
    sent.map(({ method, path, body }) => [`${method} ${path}`, body]),
    [
      ["POST /clusters/demo/switchover", { leader: "pg1", candidate: "pg2", scheduled_at: "2026-01-31T03:00:00Z" }],
      ["POST /clusters/demo/failover?dry_run=1", { candidate: "pg3" }],
      [
        "POST /clusters/demo/nodes/pg2/restart",
        {
          restart_pending: true,
          role: "replica",
          postgres_version: "15.4",
          timeout: 90,
          schedule: "2026-01-31T03:00:00+02:00",
        },
      ],
      ["POST /clusters/demo/nodes/pg2/reinitialize", { force: true, "from-leader": true }],
    ],
  );
  assert.ok(sent.every(({ type }) => type === "application/json"));
});

test("calls to a node refuse --cluster beside another cluster in its name", async () => {
  const server = await serveCannedAnswers(adminApiAnswers);
  for (const call of ["restart", "reload", "reinitialize"]) {
    const refused = await runJson(["node", call, "b/pg1", "--cluster", "a", "--yes", "--server", server.url]);
    assert.deepEqual([refused.exit_code, refused.diagnostics[0]?.rule_id], [2, "RC001"]);
  }
  assert.deepEqual(server.received, []);
  const asked = await runText(["node", "reinitialize", "pg2", "--cluster", "demo", "--server", server.url], {
    stdin: "n\n",
    isTerminal: true,
  });
  assert.match(asked.err, /This deletes all data of demo\/pg2 and rebuilds it\./);
  await server.close();
});

test("asks for confirmation on a terminal, and does nothing unless the answer is yes", async () => {
  const server = await serveCannedAnswers(adminApiAnswers);
  const argv = ["node", "reload", "demo/pg2", "--server", server.url];
  for (const [stdin, code] of [
    ["y\n", 0],
    ["yes\n", 0],
    ["n\n", 2],
    ["\n", 2],
    ["", 2],
  ] as const) {
    const known = server.received.length;
    const ran = await runText(argv, { stdin, isTerminal: true });
    assert.equal(ran.code, code, JSON.stringify(stdin));
    assert.match(ran.err, /This reloads the configuration file of demo\/pg2\. Continue\? \[y\/N\]/);
    assert.equal(server.received.length - known, code === 0 ? 1 : 0);
  }
  await server.close();
});
