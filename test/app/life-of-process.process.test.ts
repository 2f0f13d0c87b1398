/** Real processes that are stopped at any instant of a start or a reload. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isFree } from "../fake/free-port.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { hangingOnSignal, hangLine } from "../fake/hang-on-signal.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 120_000 };

interface Serving {
  readonly running: RolecallProcess;
  readonly file: string;
  /** Every port that it may listen on. */
  readonly ports: readonly number[];
  /** Writes a configuration with another listener, and requests a reload. */
  readonly reload: () => void;
  readonly workers: () => readonly number[];
}

interface ServeOptions {
  /** How long connections are drained at the end, "100ms" by default. */
  readonly drain?: string;
  readonly env?: NodeJS.ProcessEnv;
}

async function serve(
  context: TestContext,
  workers: number,
  { drain = "100ms", env = {} }: ServeOptions = {},
): Promise<Serving> {
  const [node] = await openFakeCluster(context, ["pg1"]);
  const [port, other] = [await freePort(), await freePort()];
  const text = (ports: readonly number[]): string =>
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
listen: [${ports.map((each) => `{ port: ${each}, whole_cluster: true }`).join(", ")}]
workers: ${workers}
drain: ${drain}
`;
  const file = writeConfigFile(context, text([port]));
  const running = new RolecallProcess(context, ["serve", "--config", file], { env });
  const reload = (): void => {
    writeFileSync(file, text([port, other]));
    running.process.kill("SIGHUP");
  };
  const pids = (): readonly number[] =>
    [...running.stderr.matchAll(/"pid":(\d+),"msg":"worker started"/g)].map(([, pid]) => Number(pid));
  return { running, file, ports: [port, other], reload, workers: pids };
}

/** It has ended with 0, nothing was logged after its end was, and nobody listens any more. */
async function assertEnded({ running, ports }: Serving): Promise<void> {
  assert.equal(await running.exit, 0, running.stderr);
  const [, after = ""] = running.stderr.split('"event":"stopped"');
  assert.doesNotMatch(after, /"msg":"(reloaded|.*started to monitor.*)"/, running.stderr);
  await until("free ports", async () => (await Promise.all(ports.map(isFree))).every(Boolean));
}

// They wait for most of their time.
describe("a process that is stopped", { concurrency: 4 }, () => {
  for (const workers of [0, 2])
    for (const afterMs of [0, 2, 5, 10, 20, 40, 80, 160])
      test(`${afterMs} ms after a reload began, with ${workers} workers, stays stopped`, limit, async (context) => {
        const serving = await serve(context, workers);
        await serving.running.waitForLog('"listening"');
        serving.reload();
        await sleep(afterMs);
        serving.running.process.kill("SIGTERM");
        await assertEnded(serving);
      });

  for (const workers of [0, 2])
    for (const afterMs of [0, 20, 60, 120, 240])
      test(
        `${afterMs} ms after its first log line, with ${workers} workers, ends the start`,
        limit,
        async (context) => {
          const serving = await serve(context, workers);
          await until("a first line", () => serving.running.stderr !== "");
          await sleep(afterMs);
          serving.running.process.kill("SIGTERM");
          await assertEnded(serving);
        },
      );

  for (const afterMs of [0, 100, 400])
    test(`does not wait for a reload whose worker hangs, ${afterMs} ms after it began`, limit, async (context) => {
      const serving = await serve(context, 1, { env: hangingOnSignal });
      for (const line of ['"listening"', "worker started"]) await serving.running.waitForLog(line);
      const [worker = 0] = serving.workers();
      process.kill(worker, "SIGUSR2");
      await serving.running.waitForLog(hangLine);
      serving.reload();
      await sleep(afterMs);
      serving.running.process.kill("SIGTERM");
      await assertEnded(serving);
      // A reload gives a worker that does not reply 15 s. The process did not wait for that.
      assert.doesNotMatch(serving.running.stderr, /does not reply and is killed/);
      assert.match(serving.running.stderr, /reload (abandoned|refused)/);
    });

  test("exits at once on a second signal, whatever its workers do", limit, async (context) => {
    const serving = await serve(context, 1, { drain: "10min" });
    for (const line of ['"listening"', "worker started"]) await serving.running.waitForLog(line);
    for (const worker of serving.workers()) process.kill(worker, "SIGSTOP");
    serving.running.process.kill("SIGTERM");
    await serving.running.waitForLog('"stopping"');
    serving.running.process.kill("SIGTERM");
    await assertEnded(serving);
    assert.doesNotMatch(serving.running.stderr, /"event":"stopped"/);
    for (const worker of serving.workers()) await until("the end of the worker", () => !isAlive(worker));
  });

  test("a reload that is requested during the start follows it", limit, async (context) => {
    const serving = await serve(context, 2);
    await until("a first line", () => serving.running.stderr !== "");
    serving.reload();
    await serving.running.waitForLog('"msg":"reloaded"');
    serving.running.process.kill("SIGINT");
    await assertEnded(serving);
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
