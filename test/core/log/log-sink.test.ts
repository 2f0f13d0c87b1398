import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LogSink } from "../../../src/core/log/log-sink.ts";
import { until } from "../../fake/until.ts";

/** A reader that takes `room` bytes and then none until it gets more room. */
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

describe("a log sink", () => {
  test("keeps lines in order for a reader that is behind, also after a partial write", async () => {
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

  test("drops and counts lines beyond the limit, and reports the number once it is read again", async () => {
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
});

test("a line of JSON controls no terminal, and means what it meant", () => {
  const reader = new Reader();
  reader.room = 1_000;
  const fields = { problem: "\u009b31m\u202ex\u2066\u007f", msg: "é" };
  new LogSink(reader.take).write(`${JSON.stringify(fields)}\n`);
  const text = Buffer.from(reader.text, "latin1").toString();
  assert.equal(text, '{"problem":"\\u009b31m\\u202ex\\u2066\\u007f","msg":"é"}\n');
  assert.deepEqual(JSON.parse(text), fields);
});
