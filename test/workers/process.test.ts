import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask } from "../fake/ask.ts";
import { liveCluster } from "../fake/live-node.ts";
import { fileOf, freePort, Running } from "../fake/running.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 60_000 };

interface Served {
  readonly running: Running;
  readonly url: string;
  /** The process id of its one worker. */
  readonly worker: number;
}

/** rolecall as a process with one worker, evidence no older than a second. */
async function served(context: TestContext): Promise<Served> {
  const [node] = await liveCluster(context, ["pg1"]);
  const port = await freePort();
  const file = fileOf(
    context,
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
probe: { interval: 100ms, timeout: 300ms, connect_timeout: 100ms, max_age: 1s }
listen: [{ port: ${port}, whole_cluster: true }]
workers: 1
drain: 1min
`,
  );
  const running = new Running(context, ["serve", "--config", file]);
  await running.says("listening");
  const [, worker] = /"pid":(\d+),"msg":"worker started"/.exec(running.stderr) ?? [];
  return { running, url: `http://127.0.0.1:${port}`, worker: Number(worker) };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function phraseOf(url: string): Promise<string> {
  const { status, phrase } = await ask(url);
  return `${status} ${phrase}`;
}

test(
  "while the first process stands still its worker says yes no longer than evidence may be old",
  limit,
  async (context) => {
    const { running, url } = await served(context);
    assert.equal(await phraseOf(`${url}/primary`), "200 OK");
    running.process.kill("SIGSTOP");
    const stoppedMs = performance.now();
    await until(async () => (await phraseOf(`${url}/nodes/pg1/primary`)).startsWith("503"));
    assert.ok(performance.now() - stoppedMs > 500, "not at once: the evidence was fresh");
    assert.match(await phraseOf(`${url}/nodes/pg1/primary`), /^503 stale/);
    running.process.kill("SIGCONT");
    await until(async () => (await phraseOf(`${url}/primary`)) === "200 OK");
  },
);

test("a worker that stood still has no yes from before", limit, async (context) => {
  const { url, worker } = await served(context);
  process.kill(worker, "SIGSTOP");
  // Asked while it stands still, answered when it goes on: by then the evidence that it has is too old.
  const asked = ask(`${url}/primary`);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  process.kill(worker, "SIGCONT");
  const { status, body } = await asked;
  if (status === 200)
    assert.ok(Date.now() - Date.parse(JSON.parse(body).rolecall.observed_at) < 1_000, "a yes is from fresh evidence");
  else assert.equal(status, 503);
  await until(async () => (await phraseOf(`${url}/primary`)) === "200 OK");
});

test("workers end with the first process, however that ends", limit, async (context) => {
  const { running, worker } = await served(context);
  assert.ok(isThere(worker));
  running.process.kill("SIGKILL");
  await running.exit;
  await until(() => Promise.resolve(!isThere(worker)));
});

test("a signal to all of its processes drains as one to the first", limit, async (context) => {
  const { running, url, worker } = await served(context);
  for (const pid of [worker, running.process.pid ?? 0]) process.kill(pid, "SIGTERM");
  await running.says("stopping");
  await until(async () => (await phraseOf(`${url}/readyz`)) === "503 draining");
  assert.equal(await phraseOf(`${url}/primary`), "200 OK");
  running.process.kill("SIGTERM");
  assert.equal(await running.exit, 0);
  await until(() => Promise.resolve(!isThere(worker)));
});
