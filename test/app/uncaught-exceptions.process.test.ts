import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { sendRequest } from "../fake/http-request.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 60_000 };

/**
 * Throws an uncaught error in the process that gets the signal: SIGUSR2 outside our functions, SIGWINCH in a function
 * that writes the snapshot.
 */
const mishaps = `
process.on("SIGUSR2", () => setImmediate(() => { throw new Error("mishap of a connection"); }));
process.on("SIGWINCH", () => setImmediate(() => {
  const error = new Error("mishap of the store");
  error.stack += "\\n    at Store.record (${new URL("../../src/core/state/store.js", import.meta.url).href}:1:2)";
  throw error;
}));
`;

interface Served {
  readonly running: RolecallProcess;
  readonly url: string;
  readonly admin: string;
  readonly workers: () => readonly number[];
}

async function served(context: TestContext): Promise<Served> {
  const [node] = await openFakeCluster(context, ["pg1"]);
  const [port, admin] = [await freePort(), await freePort()];
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
listen: [{ port: ${port}, whole_cluster: true }, { port: ${admin}, dialect: admin }]
workers: 1
drain: 0s
`,
  );
  const preload = `data:text/javascript,${encodeURIComponent(mishaps)}`;
  const running = new RolecallProcess(context, ["serve", "--config", file], {
    env: { NODE_OPTIONS: `--import=${preload}` },
  });
  for (const line of ["listening", "worker started"]) await running.waitForLog(line);
  const workers = (): readonly number[] =>
    [...running.stderr.matchAll(/"pid":(\d+),"msg":"worker started"/g)].map(([, pid]) => Number(pid));
  return {
    running,
    url: `http://127.0.0.1:${port}/nodes/pg1/primary`,
    admin: `http://127.0.0.1:${admin}/metrics`,
    workers,
  };
}

test(
  "what only the handler of uncaught exceptions in the main process catches is counted, logged, and ends nothing",
  limit,
  async (context) => {
    const { running, url, admin, workers } = await served(context);
    running.process.kill("SIGUSR2");
    await running.waitForLog("mishap of a connection");
    process.kill(workers()[0] ?? 0, "SIGUSR2");
    await until("a second contained error", async () =>
      /rolecall_contained_errors_total\{scope="process"\} 2/.test((await sendRequest(admin)).body),
    );
    assert.equal((await sendRequest(url)).status, 200);
    assert.equal(workers().length, 1);
    assert.equal(running.process.exitCode, null);
  },
);

test(
  "what may have left the snapshot half written ends a worker, which is replaced, and the main process",
  limit,
  async (context) => {
    const { running, url, workers } = await served(context);
    process.kill(workers()[0] ?? 0, "SIGWINCH");
    await until("a second worker", () => workers().length === 2);
    await until("an answer of a worker", async () => (await sendRequest(url)).status === 200);
    running.process.kill("SIGWINCH");
    assert.equal(await running.exit, 2);
  },
);

test("so many within a minute are no accident: the process ends", limit, async (context) => {
  const { running } = await served(context);
  void (async () => {
    while (running.process.exitCode === null) {
      running.process.kill("SIGUSR2");
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
  })();
  assert.equal(await running.exit, 2);
});
