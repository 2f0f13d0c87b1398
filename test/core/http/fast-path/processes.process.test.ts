import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { suite, test, type TestContext } from "node:test";
import { pino } from "pino";
import { App } from "../../../../src/app/app.ts";
import type { Config } from "../../../../src/core/config/model/config.ts";
import { sendRequest } from "../../../fake/http-request.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../../fake/config.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { workersAnswer } from "../../../fake/workers-answer.ts";

const limit = { timeout: 60_000 };

interface Started {
  readonly app: App;
  readonly config: Config;
  readonly log: readonly Record<string, unknown>[];
  /** The sum of one fast path metric over its labels. */
  readonly metric: (name: string) => Promise<number>;
  readonly portOf: (at: number) => number;
}

async function start(context: TestContext, parts: Pick<Config, "workers" | "fastPath">): Promise<Started> {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const config = configOf({
    clusters: [clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })) })],
    listen: [listenerOf({ wholeCluster: true }), listenerOf({ dialect: "admin" })],
    ...parts,
  });
  const log: Record<string, unknown>[] = [];
  const lines = new PassThrough();
  lines.on("data", (line: Buffer) => log.push(JSON.parse(line.toString()) as Record<string, unknown>));
  const app = new App(config, pino({}, lines));
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const portOf = (at: number): number => app.listeners[at]?.port ?? 0;
  const metric = async (name: string): Promise<number> => {
    const { body } = await sendRequest(`http://127.0.0.1:${portOf(1)}/metrics`);
    const values = body.matchAll(new RegExp(`^rolecall_fast_path_${name}_total(?:\\{.*\\})? (\\d+)$`, "gm"));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return { app, config, log, metric, portOf };
}

/**
 * Sends checks until one is answered on the fast path: a worker verifies its own after it receives the configuration.
 */
async function checksUntilFast({ metric }: Started, port: number): Promise<number> {
  const before = await metric("requests");
  for (let sent = 1; ; sent += 1) {
    await sendRequest(`http://127.0.0.1:${port}/nodes/pg1/primary`);
    if ((await metric("requests")) > before) return sent;
  }
}

suite("the fast path of a whole program", () => {
  for (const workers of [0, 2]) {
    test(`answers with ${workers} workers, and its metrics count all processes`, limit, async (context) => {
      const started = await start(context, { workers, fastPath: "force" });
      await workersAnswer(`http://127.0.0.1:${started.portOf(1)}`, workers);
      await checksUntilFast(started, started.portOf(0));
      assert.equal(await started.metric("trips"), 0);
      assert.deepEqual(
        started.log.filter(({ msg }) => msg === "fast path off"),
        [],
      );
    });
  }

  test("serves a listener that a reload opens, and stops when a reload switches it off", limit, async (context) => {
    const started = await start(context, { workers: 0, fastPath: false });
    const { app, config, metric, portOf } = started;
    const reload = (fastPath: Config["fastPath"]): Promise<void> =>
      app.apply({ ...config, listen: [...config.listen, listenerOf({ cluster: "demo" })], fastPath });
    await sendRequest(`http://127.0.0.1:${portOf(0)}/nodes/pg1/primary`);
    assert.equal(await metric("requests"), 0);
    await reload("force");
    await sendRequest(`http://127.0.0.1:${portOf(0)}/nodes/pg1/primary`);
    await sendRequest(`http://127.0.0.1:${portOf(2)}/nodes/pg1/primary`);
    assert.equal(await metric("requests"), 2);
    await reload(false);
    await sendRequest(`http://127.0.0.1:${portOf(0)}/nodes/pg1/primary`);
    assert.equal(await metric("requests"), 2);
  });
});
