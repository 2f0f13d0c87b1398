import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { BackwardList } from "../../../../src/features/history/store/history-reader.ts";
import { eventLine } from "../../../../src/features/history/store/history-lines.ts";
import { readStoredEvents } from "../../../../src/features/history/store/history-directory.ts";
import { runText } from "../../../fake/command-line.ts";
import { eventAt, temporaryDirectory } from "./history-fixture.ts";

test("a history that is too large to be read at once has its newest events, and says that it is incomplete", async (context) => {
  const directory = temporaryDirectory(context);
  mkdirSync(directory);
  const filler = `{"t":1,"k":"later","x":"${"x".repeat(999_000)}"}\n`;
  const old = `${eventLine(eventAt(2, "a.2"))}\n${filler.repeat(300)}`;
  writeFileSync(join(directory, "events-0000000001.jsonl.gz"), gzipSync(old, { level: 1 }));
  for (const file of [2, 3]) {
    const lines = [1, 2].map((at) => `${eventLine(eventAt(10 * file + at, `a.${10 * file + at}`))}\n`);
    writeFileSync(join(directory, `events-000000000${file}.jsonl`), lines.join(""));
  }
  for (const [limit, ids, isComplete] of [
    [1, ["a.32"], true],
    [3, ["a.22", "a.31", "a.32"], true],
    [9, ["a.21", "a.22", "a.31", "a.32"], false],
  ] as const) {
    const query = { sinceMs: 0, untilMs: Infinity, limit, matches: () => true };
    const found = await readStoredEvents(directory, query, () => assert.fail("no line is damaged"));
    assert.deepEqual([found.events.map(({ id }) => id), found.isComplete], [ids, isComplete]);
  }
});

test("files read backwards: the items of a file that is not read to its end count only if there are no newer ones", () => {
  const list = new BackwardList<number>(3);
  for (const item of [1, 2]) list.add(item);
  assert.equal(list.endFile(false), false);
  assert.deepEqual(list.newest, [1, 2]);
  list.add(0);
  list.endFile(false);
  assert.deepEqual(list.newest, [1, 2]);
  for (let item = -9; item <= 0; item += 1) list.add(item);
  assert.equal(list.endFile(true), true);
  assert.deepEqual(list.newest, [0, 1, 2]);
});

test("a directory without files of a history is refused", async (context) => {
  const directory = temporaryDirectory(context);
  mkdirSync(directory);
  const refused = await runText(["history", "--directory", directory]);
  assert.deepEqual([refused.code, refused.out], [2, ""]);
  assert.match(refused.err, /^error RC006 {2}Cannot read --directory: .* got one without history files/);
  writeFileSync(join(directory, "events-0000000001.jsonl"), `${eventLine(eventAt(1, "a.1"))}\n`);
  assert.match((await runText(["history", "--directory", directory])).out, /demo has no primary/);
});
