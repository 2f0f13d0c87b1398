/** Two processes: the first has announced a pause and dies or stands still, the second is a whole rolecall. */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { type AnnouncingPair, startAnnouncingPair } from "../../../fake/announcing-pair.ts";
import { PausableConsole } from "../../../fake/pausable-console.ts";
import { until } from "../../../fake/until.ts";

async function startPair(context: TestContext): Promise<AnnouncingPair & { readonly pgbouncer: PausableConsole }> {
  const pgbouncer = await new PausableConsole(["orders"]).listen(context);
  const pair = await startAnnouncingPair(context, pgbouncer.target, false);
  pgbouncer.paused.add("orders");
  return { ...pair, pgbouncer };
}

suite("the first of two rolecalls", { timeout: 180_000 }, () => {
  test("is killed: the second one resumes what it paused", async (context) => {
    const { first, second, pgbouncer, metrics } = await startPair(context);
    assert.match(await metrics(), /rolecall_pauses_held\{cluster="orders",state="watched"\} 1\n/);
    first.process.kill("SIGKILL");
    await until("RESUME", () => pgbouncer.paused.size === 0);
    await second.waitForLog('"event":"pauses_lifted"');
    assert.deepEqual(pgbouncer.changes, ["RESUME orders"]);
    assert.match(second.stderr, /"event":"pauses_taken_over"/);
    assert.match(await metrics(), /rolecall_pauses_held\{cluster="orders",state="resuming"\} 0\n/);
  });

  test("stands still, and goes on too late: it hears that it was taken over", async (context) => {
    const { first, second, pgbouncer } = await startPair(context);
    first.process.kill("SIGSTOP");
    await until("RESUME", () => pgbouncer.paused.size === 0);
    await second.waitForLog('"event":"pauses_lifted"');
    assert.ok(!first.lines().includes("taken over by the peer"));
    first.process.kill("SIGCONT");
    await until("the fence", () => first.lines().includes("taken over by the peer"));
  });

  test("lives: nothing is resumed, also when the second one stands still for a while", async (context) => {
    const { first, second, pgbouncer } = await startPair(context);
    const before = first.lines().length;
    second.process.kill("SIGSTOP");
    await new Promise((resolve) => void setTimeout(resolve, 3_000));
    second.process.kill("SIGCONT");
    await until("more echoes", () => first.lines().length > before + 2);
    assert.deepEqual(pgbouncer.changes, []);
    assert.doesNotMatch(second.stderr, /pauses_taken_over/);
    assert.ok(first.lines().every((line) => line === "acknowledged" || line === "echo"));
  });
});
