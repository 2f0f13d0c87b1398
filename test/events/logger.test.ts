import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { LineLimit, LogSink } from "../../src/events/logger.ts";
import { sendRequest } from "../fake/http-request.ts";
import { until } from "../fake/until.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { writeConfigFile, freePort, RolecallProcess } from "../fake/rolecall-process.ts";

/** A reader that takes so many bytes and then none until it is given more. */
class Reader {
  room = 0;
  text = "";
  isGone = false;

  readonly take = (bytes: Buffer): number => {
    if (this.isGone) throw Object.assign(new Error("gone"), { code: "EPIPE" });
    if (this.room === 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    const length = Math.min(this.room, bytes.length);
    this.room -= length;
    this.text += bytes.toString("latin1", 0, length);
    return length;
  };
}

describe("the log", () => {
  test("keeps lines for a reader that is behind, in their order, also where one was taken in part", async () => {
    const reader = new Reader();
    const sink = new LogSink(reader.take);
    reader.room = 5;
    sink.write("first\n");
    sink.write("second\n");
    assert.equal(reader.text, "first");
    reader.room = 1_000;
    sink.write("third\n");
    assert.equal(reader.text, "first\nsecond\nthird\n");
    reader.room = 0;
    sink.write("fourth\n");
    reader.room = 1_000;
    await until("the rest, without another line", () => (reader.text.endsWith("fourth\n") ? true : undefined));
    assert.equal(sink.lost, 0);
  });

  test("loses and counts lines beyond a bound, and says how many once it is read again", async () => {
    const reader = new Reader();
    const sink = new LogSink(reader.take);
    const line = `${"x".repeat(999)}\n`;
    for (let at = 0; at < 3_000; at += 1) sink.write(line);
    const kept = Math.floor((1024 * 1024) / line.length) + 1;
    assert.equal(sink.lost, 3_000 - kept);
    reader.room = Infinity;
    sink.write("next\n");
    const [notice = "", next] = reader.text.trimEnd().split("\n").slice(-2);
    assert.equal(JSON.parse(notice).lost, 3_000 - kept);
    assert.equal(next, "next");
    assert.equal(reader.text.split("\n").length - 1, kept + 2);
    reader.isGone = true;
    sink.write("to nobody\n");
    assert.equal(sink.lost, 3_000 - kept + 1);
  });

  test("of one kind is bounded in each span, and the end of the span tells how many lines were left out", () => {
    const told: number[][] = [];
    const limit = new LineLimit(2, 60_000, (count, spanMs) => told.push([count, spanMs]));
    assert.deepEqual([limit.take(), limit.take(), limit.take(), limit.take(7)], [true, true, false, false]);
    limit.end();
    assert.deepEqual(told, [[8, 60_000]]);
    assert.equal(limit.take(), true);
    limit.end();
    assert.equal(told.length, 1);
  });
});

describe("a process whose stderr nobody reads", () => {
  for (const [kind, command] of [
    ["a socket", undefined],
    ["a pipe", ["bash", "-c", 'exec "$@" 2> >(exec sleep 30 > /dev/null 2>&1)', "bash", process.execPath]],
  ] as const) {
    test(`answers checks, and ends on a signal: ${kind}`, { timeout: 60_000 }, async (context) => {
      const [pg1] = await openFakeCluster(context, ["pg1"]);
      const [port, admin] = [await freePort(), await freePort()];
      const listen = `[{ port: ${port}, management: on }, { port: ${admin}, dialect: admin }]`;
      const file = writeConfigFile(
        context,
        `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]\nlisten: ${listen}\ndrain: 0s\n`,
      );
      const running = new RolecallProcess(
        context,
        ["serve", "--config", file],
        command === undefined ? {} : { command },
      );
      running.process.stderr?.pause();
      await until("an answer", () =>
        sendRequest(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => (status === 200 ? true : undefined),
          () => undefined,
        ),
      );
      // Each call is a line of the log: more of them than pipe, socket and memory hold.
      const headers = { "x-request-id": "r".repeat(128) };
      for (let round = 0; round < 100; round += 1) {
        await Promise.all(
          Array.from({ length: 50 }, () =>
            sendRequest(`http://127.0.0.1:${port}/nodes/pg1/reload?dry_run=1`, { method: "POST", headers }),
          ),
        );
        assert.equal((await sendRequest(`http://127.0.0.1:${port}/livez`)).status, 200);
      }
      const { body } = await sendRequest(`http://127.0.0.1:${admin}/metrics`);
      const lost = Number(/^rolecall_log_lines_lost_total (\d+)$/m.exec(body)?.[1]);
      assert.ok(lost > 0, `${lost} lines were lost`);
      if (command === undefined) {
        running.process.stderr?.resume();
        await until("the notice", () => (running.stderr.includes('"msg":"log lines lost') ? true : undefined));
        const lines = running.stderr
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as { readonly msg: string; readonly lost?: number });
        const calls = lines.filter(({ msg }) => msg === "management call").length;
        assert.equal(calls + lines.reduce((sum, line) => sum + (line.lost ?? 0), 0), 5_000);
        running.process.stderr?.pause();
      }
      const ended = once(running.process, "exit");
      running.process.kill("SIGTERM");
      assert.deepEqual(await ended, [0, null]);
    });
  }
});
