import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { query, startup, WireReader } from "../../bench/outage/wire.ts";

/** A message of the server. */
function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function row(...columns: readonly (string | null)[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(columns.length);
  const cells = columns.map((column) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(column === null ? -1 : Buffer.byteLength(column));
    return Buffer.concat([length, Buffer.from(column ?? "")]);
  });
  return message("D", Buffer.concat([count, ...cells]));
}

const login = Buffer.concat([
  message("R", Buffer.alloc(4)),
  message("S", Buffer.from("a\0b\0")),
  message("Z", Buffer.from("I")),
]);
const completed = message("C", Buffer.from("INSERT 0 1\0"));
const idle = message("Z", Buffer.from("I"));
const readOnly = message("E", Buffer.from("SERROR\0VERROR\0C25006\0Mcannot execute INSERT\0\0"));

describe("the reader of the PostgreSQL protocol", () => {
  test("reads the first row, and counts completed statements", () => {
    const reader = new WireReader();
    const reading = reader.push(Buffer.concat([login, row("25541", null), row("2", "x"), completed, idle]));
    assert.deepEqual(reading, { row: ["25541", null], error: undefined, completed: 1, isIdle: true });
  });

  test("reads messages in pieces of any size", () => {
    const bytes = Buffer.concat([login, row("25541", "é"), completed, idle]);
    for (let size = 1; size < bytes.length; size += 1) {
      const reader = new WireReader();
      let reading = reader.push(Buffer.alloc(0));
      for (let at = 0; at < bytes.length; at += size) reading = reader.push(bytes.subarray(at, at + size));
      assert.deepEqual(reading.row, ["25541", "é"], `pieces of ${size} bytes`);
      assert.equal(reading.completed, 1, `pieces of ${size} bytes`);
    }
  });

  test("reads the code of the first error", () => {
    const reading = new WireReader().push(Buffer.concat([login, readOnly, idle]));
    assert.deepEqual(reading, { row: [], error: "25006", completed: 0, isIdle: true });
  });

  test("forgets the last result when it is cleared", () => {
    const reader = new WireReader();
    reader.push(Buffer.concat([row("1"), readOnly, completed, idle]));
    reader.clear();
    assert.deepEqual(reader.push(Buffer.alloc(0)), { row: [], error: undefined, completed: 0, isIdle: false });
  });

  test("rejects what is not of this protocol", () => {
    assert.throws(
      () => new WireReader().push(Buffer.from("HTTP/1.1 400 Bad request\r\n")),
      /length must be 4 to 1048576/,
    );
  });

  test("writes a startup message of protocol 3.0, and a query that ends with a zero", () => {
    assert.equal(startup.readInt32BE(0), startup.length);
    assert.equal(startup.readInt32BE(4), 3 << 16);
    assert.equal(startup.toString("latin1", 8), "user\0postgres\0database\0postgres\0\0");
    assert.equal(query("select 1").toString("latin1"), "Q\0\0\0\rselect 1\0");
  });
});
