/** A real PgBouncer that one process has paused, and a whole rolecall as the peer of that process. */
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { readDatabases } from "../../src/core/balancing/pgbouncer/documents.ts";
import { type AnnouncingPair, startAnnouncingPair } from "../fake/announcing-pair.ts";
import { until } from "../fake/until.ts";
import { withConsole } from "../fake/with-console.ts";
import { Pgbouncer, pgbouncer118, pgbouncer124 } from "./lab/pgbouncer.ts";

const limitMs = 10_000;

for (const { title, found } of [pgbouncer118(), pgbouncer124()])
  if ("notRun" in found) test(title, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(`${title} that a rolecall paused`, { timeout: 180_000 }, () => scenarios(found.path));

interface Paused extends AnnouncingPair {
  readonly pgbouncer: Pgbouncer;
  readonly isPaused: () => Promise<boolean>;
}

async function startPaused(
  context: TestContext,
  program: string,
  settings: Readonly<Record<string, number>> = {},
): Promise<Paused> {
  const databases = ["orders = host=127.0.0.1 port=1"];
  const pgbouncer = await Pgbouncer.start({ program, databases, settings });
  context.after(() => pgbouncer.stop());
  const address = { host: "127.0.0.1", port: pgbouncer.port };
  const target = { address, user: "rolecall", passwordFile: null, tls: null };
  const isPaused = (): Promise<boolean> =>
    withConsole(target, limitMs, async (console) => {
      const shown = readDatabases(await console.query("SHOW DATABASES", limitMs));
      return shown.find(({ name }) => name === "orders")?.isPaused === true;
    });
  const pair = await startAnnouncingPair(context, target, true);
  await until("PAUSE", isPaused);
  return { ...pair, pgbouncer, isPaused };
}

function scenarios(program: string): void {
  test("and is killed: its peer lets the clients go on", async (context) => {
    const { first, second, isPaused } = await startPaused(context, program);
    first.process.kill("SIGKILL");
    await until("RESUME", async () => !(await isPaused()));
    await second.waitForLog('"event":"pauses_lifted"');
  });

  test("and stands still: its peer goes on until no PAUSE of it can arrive any more", async (context) => {
    const { first, second, isPaused } = await startPaused(context, program);
    first.process.kill("SIGSTOP");
    await until("RESUME", async () => !(await isPaused()));
    await second.waitForLog("a console that sent PAUSE is still connected");
    assert.doesNotMatch(second.stderr, /pauses_lifted/);
    first.process.kill("SIGKILL");
    await second.waitForLog('"event":"pauses_lifted"');
  });

  test("while it froze: its peer lets the clients go on as soon as it runs", async (context) => {
    const { first, second, pgbouncer, isPaused } = await startPaused(context, program);
    const thaw = pgbouncer.freeze();
    first.process.kill("SIGKILL");
    await second.waitForLog("cannot be lifted yet");
    thaw();
    await second.waitForLog('"event":"pauses_lifted"');
    assert.equal(await isPaused(), false);
  });

  test("and that restarts: nothing is paused, which its peer finds", async (context) => {
    const { first, second, pgbouncer, isPaused } = await startPaused(context, program);
    await pgbouncer.kill();
    first.process.kill("SIGKILL");
    await second.waitForLog('"event":"pauses_taken_over"');
    await pgbouncer.start();
    await second.waitForLog('"event":"pauses_lifted"');
    assert.equal(await isPaused(), false);
  });
}
