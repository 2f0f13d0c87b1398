/** Other numbers of workers after a reload (docs/operations.md, "Workers"). */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";
import { workersAnswer } from "../../fake/workers-answer.ts";

const limit = { timeout: 240_000 };

interface Served {
  readonly running: RolecallProcess;
  readonly health: string;
  readonly admin: string;
  /** Reloads with other workers, and more listeners. Resolves when that was applied or refused. */
  readonly reload: (workers: number | "auto", listeners?: string) => Promise<void>;
}

async function served(context: TestContext, workers: number | "auto", listeners = ""): Promise<Served> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const [health, admin] = [await freePort(), await freePort()];
  const text = (count: number | "auto", more: string): string =>
    `clusters: [{ name: demo, nodes: [${nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ")}] }]
probe: { interval: 5s, timeout: 5s, connect_timeout: 5s, max_age: 1min }
listen: [{ port: ${health}, whole_cluster: true }, { port: ${admin}, dialect: admin }${more}]
workers: ${count}
drain: 0s
`;
  const file = writeConfigFile(context, text(workers, listeners));
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog('"msg":"listening"', 2);
  let reloads = 0;
  const reload = async (count: number | "auto", more = ""): Promise<void> => {
    // In one step: a reload that is asked for before may read it now.
    writeFileSync(`${file}.new`, text(count, more));
    renameSync(`${file}.new`, file);
    running.process.kill("SIGHUP");
    reloads += 1;
    await running.waitForLog(/"event":"reload_(?:applied|refused)"/, reloads);
  };
  return { running, health: `http://127.0.0.1:${health}`, admin: `http://127.0.0.1:${admin}`, reload };
}

/** The processes that rolecall has started and that run. */
function childrenOf({ running: { process } }: Served): readonly number[] {
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number);
}

function descriptorsOf({ running: { process } }: Served): number {
  return readdirSync(`/proc/${process.pid}/fd`).length;
}

interface Load {
  readonly served: () => number;
  readonly problems: readonly unknown[];
  readonly end: () => Promise<void>;
}

/** Checks on new and on kept connections, without a pause. */
function loadOn(context: TestContext, url: string): Load {
  const over = new AbortController();
  context.after(() => over.abort());
  let answered = 0;
  const problems: unknown[] = [];
  const client = async (isKept: boolean): Promise<void> => {
    const agent = isKept ? new Agent({ keepAlive: true, maxSockets: 1 }) : false;
    while (!over.signal.aborted) {
      try {
        const { status, phrase } = await sendRequest(url, { tls: { agent } });
        if (status === 200) answered += 1;
        else problems.push(`${status} ${phrase}`);
      } catch (error) {
        problems.push(error);
      }
    }
    if (agent !== false) agent.destroy();
  };
  const clients = [false, false, true, true, true].map(client);
  const end = async (): Promise<void> => {
    over.abort();
    await Promise.all(clients);
  };
  return { served: () => answered, problems, end };
}

test(
  "changes its workers by reloads under load, time after time, and costs no client anything",
  limit,
  async (context) => {
    const rolecall = await served(context, 0);
    const { health, admin, running, reload } = rolecall;
    await sendRequest(`${health}/nodes/pg1/primary`);
    const before = descriptorsOf(rolecall);
    const load = loadOn(context, `${health}/nodes/pg1/primary`);
    for (const workers of [1, 2, 0, 1, 0, 2, 1, 3, 0]) {
      await reload(workers);
      await workersAnswer(admin, workers);
      await until(`${workers} processes`, () => childrenOf(rolecall).length === workers);
      const answered = load.served();
      await until("answers", () => load.served() > answered + 100);
    }
    await load.end();
    assert.deepEqual(load.problems, [], running.stderr);
    assert.doesNotMatch(running.stderr, /starting another one|did not start|out of sync|no worker answers/);
    await until(
      { what: `${before} descriptors`, evidence: () => String(descriptorsOf(rolecall)) },
      () => descriptorsOf(rolecall) <= before,
    );
    const page = (await sendRequest(`${admin}/metrics`)).body;
    assert.match(page, /^rolecall_workers_lost_total 0$/m);
    const answers = /^rolecall_answers_total\{route="primary",status="200"\} (\d+)$/m.exec(page)?.[1];
    assert.equal(Number(answers), load.served() + 1, "the answers of workers that have ended count");
  },
);

test(
  "a worker that is not wanted any more before it has started costs no client its connection",
  limit,
  async (context) => {
    const rolecall = await served(context, 0);
    const { health, running, reload } = rolecall;
    const load = loadOn(context, `${health}/nodes/pg1/primary`);
    // Each round waits a little longer before it takes the worker back: some of them are about to answer then.
    for (let round = 0; round < 40; round += 1) {
      await reload(1);
      const answered = load.served();
      await until("answers", () => load.served() > answered + 10 * round);
      await reload(0);
    }
    await until("no process", () => childrenOf(rolecall).length === 0);
    await load.end();
    // Forty reloads ask the nodes so often that a busy machine may find them silent.
    const lost = load.problems.filter((problem) => problem instanceof Error);
    assert.deepEqual(lost, [], running.stderr);
    assert.doesNotMatch(running.stderr, /starting another one|did not start|out of sync|no worker answers/);
  },
);

test("an idle connection gets one more answer from the process that it leads to", limit, async (context) => {
  const rolecall = await served(context, 0);
  const { health, admin, reload } = rolecall;
  const { port } = new URL(health);
  const ask = (socket: ReturnType<typeof connect>): Promise<string> =>
    new Promise((resolve, reject) => {
      socket.once("data", (bytes) => resolve(String(bytes))).once("error", reject);
      socket.write("GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n");
    });
  for (const workers of [1, 2, 1, 0]) {
    const sockets = Array.from({ length: 6 }, () => connect(Number(port), "127.0.0.1"));
    // Twice: the second check is answered on the fast path.
    for (const socket of [...sockets, ...sockets]) assert.match(await ask(socket), /^HTTP\/1.1 200 [^]*keep-alive/);
    await reload(workers);
    await workersAnswer(admin, workers);
    for (const socket of sockets) assert.match(await ask(socket), /^HTTP\/1.1 200 /);
    for (const socket of sockets) socket.destroy();
    await until(`${workers} processes`, () => childrenOf(rolecall).length === workers);
  }
});

test("a worker that starts during reloads gets its listeners again with each of them", limit, async (context) => {
  const rolecall = await served(context, 0);
  const { running, reload } = rolecall;
  const other = await freePort();
  for (let round = 0; round < 2; round += 1) {
    await reload(0);
    await until("no process", () => childrenOf(rolecall).length === 0);
    const started = running.stderr.match(/"msg":"worker started"/g)?.length ?? 0;
    const hasStarted = (): boolean => (running.stderr.match(/"msg":"worker started"/g)?.length ?? 0) > started;
    for (let reloads = 0; reloads < 500 && !hasStarted(); reloads += 1)
      await reload(1, reloads % 3 === 0 ? `, { port: ${other} }` : "");
    await reload(1);
    await until("a worker", hasStarted);
  }
  assert.doesNotMatch(running.stderr, /did not start|starting another one|out of sync/);
});

test("a retiring worker answers from what is known now, and by the configuration in force", limit, async (context) => {
  const rolecall = await served(context, 1);
  const { health, admin, reload } = rolecall;
  await workersAnswer(admin, 1);
  const { port } = new URL(health);
  const socket = connect(Number(port), "127.0.0.1");
  const ask = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      socket.once("data", (bytes) => resolve(String(bytes))).once("error", reject);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    });
  assert.match(await ask("/nodes/pg2/replica"), /^HTTP\/1.1 200 /);
  await reload(0);
  await workersAnswer(admin, 0);
  assert.equal(childrenOf(rolecall).length, 1, "it waits for the next request");
  const drain = {
    method: "POST",
    body: { for: "1min", reason: "kernel" },
    headers: { "content-type": "application/json" },
  };
  assert.equal((await sendRequest(`${admin}/drains/demo/pg2`, drain)).status, 200);
  await reload(0, ", { port: 0 }");
  assert.match(await ask("/nodes/pg2/replica"), /^HTTP\/1.1 503 drained[^]*Connection: close/);
  await until("the end of the worker", () => childrenOf(rolecall).length === 0);
  assert.match((await sendRequest(`${admin}/metrics`)).body, /^rolecall_workers 0$/m);
});

test("a reload that is refused leaves the workers as they were", limit, async (context) => {
  const rolecall = await served(context, 0);
  const { health, admin, running, reload } = rolecall;
  const taken = `, { port: ${new URL(admin).port}, address: 127.0.0.1, whole_cluster: true }`;
  const load = loadOn(context, `${health}/nodes/pg1/primary`);
  for (const [now, wanted] of [
    [0, 2],
    [1, 0],
    [1, 3],
  ] as const) {
    await reload(now);
    await workersAnswer(admin, now);
    const children = childrenOf(rolecall);
    await reload(wanted, taken);
    const answered = load.served();
    await until("answers", () => load.served() > answered + 100);
    assert.deepEqual(childrenOf(rolecall), children);
    await workersAnswer(admin, now);
  }
  await load.end();
  assert.equal(running.stderr.match(/"event":"reload_refused"/g)?.length, 3);
  assert.deepEqual(load.problems, []);
});

test("auto means none for a small fleet, also after a reload", limit, async (context) => {
  const rolecall = await served(context, "auto");
  assert.deepEqual(childrenOf(rolecall), []);
  await rolecall.reload(1);
  await workersAnswer(rolecall.admin, 1);
  await rolecall.reload("auto");
  await workersAnswer(rolecall.admin, 0);
  await until("no process", () => childrenOf(rolecall).length === 0);
});

test(
  "workers that start side by side get their sockets from the main process, whichever is ready first",
  limit,
  async (context) => {
    for (let times = 0; times < 3; times += 1)
      await Promise.all(
        [1, 2, 3].map(async () => {
          const more = [await freePort(), await freePort()].map((port) => `, { port: ${port}, dialect: exporter }`);
          const { running, admin } = await served(context, 4, more.join(""));
          await running.waitForLog('"msg":"worker started"', 4);
          assert.match(
            (await sendRequest(`${admin}/metrics`)).body,
            /^rolecall_workers_lost_total 0$/m,
            running.stderr,
          );
          running.process.kill("SIGTERM");
          assert.equal(await running.exit, 0);
        }),
      );
  },
);
