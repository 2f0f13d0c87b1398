import assert from "node:assert/strict";
import { mock, test, type TestContext } from "node:test";
import type { FitNode } from "../../../src/cli/watch/fit-nodes.ts";
import { LatestRun, type RunRequest } from "../../../src/cli/watch/latest-run.ts";

function nodes(...names: readonly string[]): readonly FitNode[] {
  return names.map((node) => ({ node, host: node, port: 5432 }));
}

/** Runs whose ends the test decides. */
class Runs {
  readonly requests: RunRequest[] = [];
  readonly signals: string[] = [];
  readonly delays: number[] = [];
  readonly latest: LatestRun;
  #end: (succeeded: boolean) => void = () => {};

  constructor(context: TestContext) {
    mock.timers.enable({ apis: ["setTimeout"] });
    context.after(() => mock.timers.reset());
    this.latest = new LatestRun({
      retryMs: [1_000, 4_000],
      onRetry: (delayMs) => this.delays.push(delayMs),
      start: (request) => {
        this.requests.push(request);
        const succeeded = new Promise<boolean>((resolve) => (this.#end = resolve));
        const end = (signal: string): void => {
          this.signals.push(signal);
          this.#end(false);
        };
        return { succeeded, end };
      },
    });
  }

  /** Which nodes ran, with the number of the attempt where it was not the first. */
  get list(): readonly string[] {
    return this.requests.map(
      ({ nodes: of, attempt }) => `${of.map(({ node }) => node).join("+")}${attempt > 1 ? `#${attempt}` : ""}`,
    );
  }

  async end(succeeded: boolean): Promise<void> {
    this.#end(succeeded);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("runs once for the same nodes, and again for others, which know the ones before", async (context) => {
  const runs = new Runs(context);
  runs.latest.offer(nodes("pg1"));
  await runs.end(true);
  runs.latest.offer(nodes("pg1"));
  runs.latest.offer(nodes("pg2"));
  assert.deepEqual(runs.list, ["pg1", "pg2"]);
  assert.deepEqual(runs.requests[1]?.previous, nodes("pg1"));
});

test("while a run goes on, waits, and skips all nodes but the last", async (context) => {
  const runs = new Runs(context);
  for (const name of ["pg1", "pg2", "pg3"]) runs.latest.offer(nodes(name));
  assert.deepEqual(runs.list, ["pg1"]);
  await runs.end(true);
  assert.deepEqual(runs.list, ["pg1", "pg3"]);
});

test("needs no other run if the nodes of a run that succeeds are the last ones again", async (context) => {
  const runs = new Runs(context);
  for (const name of ["pg1", "pg2", "pg1"]) runs.latest.offer(nodes(name));
  await runs.end(true);
  assert.deepEqual(runs.list, ["pg1"]);
  assert.equal(runs.latest.isSettled, true);
});

test("runs again for nodes that were in force before a run for others failed", async (context) => {
  const runs = new Runs(context);
  runs.latest.offer(nodes("pg1"));
  await runs.end(true);
  for (const name of ["pg2", "pg1"]) runs.latest.offer(nodes(name));
  await runs.end(false);
  assert.deepEqual(runs.list, ["pg1", "pg2", "pg1"]);
  assert.deepEqual(runs.delays, []);
});

test("repeats a run that fails, with back-off, until it succeeds", async (context) => {
  const runs = new Runs(context);
  runs.latest.offer(nodes("pg1"));
  for (let failures = 0; failures < 4; failures += 1) {
    await runs.end(false);
    mock.timers.tick(4_000);
  }
  await runs.end(true);
  assert.deepEqual(runs.delays, [1_000, 2_000, 4_000, 4_000]);
  assert.deepEqual(runs.list, ["pg1", "pg1#2", "pg1#3", "pg1#4", "pg1#5"]);
  assert.equal(runs.latest.isSettled, true);
});

test("does not wait for another attempt when the nodes change", async (context) => {
  const runs = new Runs(context);
  runs.latest.offer(nodes("pg1"));
  await runs.end(false);
  runs.latest.offer(nodes("pg2"));
  assert.deepEqual(runs.list, ["pg1", "pg2"]);
  await runs.end(true);
  mock.timers.tick(60_000);
  assert.deepEqual(runs.list, ["pg1", "pg2"]);
});

test("passes the signal on at its end, and starts nothing more", async (context) => {
  const runs = new Runs(context);
  for (const name of ["pg1", "pg2"]) runs.latest.offer(nodes(name));
  await runs.latest.stop("SIGTERM");
  assert.deepEqual(runs.signals, ["SIGTERM"]);
  assert.deepEqual(runs.list, ["pg1"]);
  assert.equal(runs.latest.isSettled, false);
});

test("makes no further attempt after its end", async (context) => {
  const runs = new Runs(context);
  runs.latest.offer(nodes("pg1"));
  await runs.end(false);
  await runs.latest.stop("SIGTERM");
  mock.timers.tick(60_000);
  assert.deepEqual(runs.list, ["pg1"]);
});
