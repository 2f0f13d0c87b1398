import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { test, type TestContext } from "node:test";
import { sendRequest } from "../../fake/http-request.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 60_000 };

interface Served {
  readonly running: RolecallProcess;
  readonly url: string;
  /** The process id of its one worker. */
  readonly worker: number;
}

/** Starts rolecall as a process with one worker; evidence is fresh for one second. */
async function served(context: TestContext): Promise<Served> {
  const [node] = await openFakeCluster(context, ["pg1"]);
  const port = await freePort();
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
probe: { interval: 100ms, timeout: 300ms, connect_timeout: 100ms, max_age: 1s }
listen: [{ port: ${port}, whole_cluster: true }]
workers: 1
drain: 1min
`,
  );
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  for (const line of ["listening", "worker started"]) await running.waitForLog(line);
  const [, worker] = /"pid":(\d+),"msg":"worker started"/.exec(running.stderr) ?? [];
  return { running, url: `http://127.0.0.1:${port}`, worker: Number(worker) };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether a signal has stopped all of a process: its state is T (proc(5)). */
function isStopped(pid: number): boolean {
  return /\) T /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
}

async function phraseOf(url: string): Promise<string> {
  const { status, phrase } = await sendRequest(url);
  return `${status} ${phrase}`;
}

test("says yes no longer than evidence may be old while the main process is stopped", limit, async (context) => {
  const { running, url } = await served(context);
  assert.equal(await phraseOf(`${url}/primary`), "200 OK");
  running.process.kill("SIGSTOP");
  const stoppedMs = performance.now();
  await until("a refusal", async () => (await phraseOf(`${url}/nodes/pg1/primary`)).startsWith("503"));
  assert.ok(performance.now() - stoppedMs > 500, "not at once: the evidence was fresh");
  assert.match(await phraseOf(`${url}/nodes/pg1/primary`), /^503 stale/);
  running.process.kill("SIGCONT");
  await until("a fit primary", async () => (await phraseOf(`${url}/primary`)) === "200 OK");
});

test("gives no yes from old evidence after a worker was stopped", limit, async (context) => {
  const { running, url, worker } = await served(context);
  // In this order: the main process would continue the worker.
  for (const pid of [running.process.pid ?? 0, worker]) {
    process.kill(pid, "SIGSTOP");
    await until("a stopped process", () => isStopped(pid));
  }
  // Requested while the worker is stopped, answered when it continues: its evidence is too old by then.
  const pending = sendRequest(`${url}/primary`).then((answer) => ({ ...answer, answeredMs: Date.now() }));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  process.kill(worker, "SIGCONT");
  running.process.kill("SIGCONT");
  const { status, body, answeredMs } = await pending;
  if (status === 200) {
    const ageMs = answeredMs - Date.parse(JSON.parse(body).rolecall.observed_at);
    assert.ok(ageMs < 1_000, `a yes is from fresh evidence, not from evidence of ${ageMs} ms ago`);
  } else assert.equal(status, 503);
  await until("a fit primary", async () => (await phraseOf(`${url}/primary`)) === "200 OK");
});

test("a worker that a signal has stopped is continued, and its connections are answered", limit, async (context) => {
  const { running, url, worker } = await served(context);
  const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => keepAlive.destroy());
  assert.equal((await sendRequest(`${url}/primary`, { tls: { agent: keepAlive } })).status, 200);
  for (const signal of ["SIGSTOP", "SIGTSTP"] as const) {
    process.kill(worker, signal);
    const answers = await Promise.all([
      sendRequest(`${url}/primary`, { tls: { agent: keepAlive } }),
      sendRequest(`${url}/primary`),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
  }
  await running.waitForLog("worker was stopped by a signal and continues");
  assert.ok(isRunning(worker), "the same worker goes on");
  assert.doesNotMatch(running.stderr, /is killed|worker ended/);
});

test("exits with the main process, however that ends", limit, async (context) => {
  const { running, worker } = await served(context);
  assert.ok(isRunning(worker));
  running.process.kill("SIGKILL");
  await running.exit;
  await until("the end of the worker", () => !isRunning(worker));
});

test("a worker exits if the main process ended while the worker was starting", limit, async (context) => {
  const child = fork(new URL("../../../src/app/worker.js", import.meta.url), { stdio: "ignore" });
  context.after(() => child.kill("SIGKILL"));
  child.disconnect();
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});

test("drains on a signal to all of its processes as on a signal to the main process", limit, async (context) => {
  const { running, url, worker } = await served(context);
  for (const pid of [worker, running.process.pid ?? 0]) process.kill(pid, "SIGTERM");
  await running.waitForLog("stopping");
  await until("/readyz draining", async () => (await phraseOf(`${url}/readyz`)) === "503 draining");
  assert.equal(await phraseOf(`${url}/primary`), "200 OK");
  running.process.kill("SIGTERM");
  assert.equal(await running.exit, 0);
  await until("the end of the worker", () => !isRunning(worker));
});
