import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { until } from "../../../fake/until.ts";
import { eventAt, filesIn, historyConfig, openHistory, storedIds, temporaryDirectory } from "./history-fixture.ts";

const limit = { timeout: 60_000 };

describe("a history", limit, () => {
  test("returns events and verdict changes of an earlier process", async (context) => {
    const directory = temporaryDirectory(context);
    const earlier = await openHistory(context, historyConfig(directory));
    const { wallMs } = earlier.clock;
    const summary = { role: "replica", isReachable: true, primary: "wrong_role", replica: "fit" } as const;
    const change = { cluster: "demo", node: "pg1", before: null, after: summary, failure: "refused" };
    const figures = { reason: null, detail: null, lagBytes: null };
    earlier.store.addEvent(eventAt(wallMs, "a.1"));
    earlier.store.addChange({ ...change, ...figures }, wallMs);
    earlier.store.addEvent(eventAt(wallMs + 5, "a.2", { node: "pg2", cause: "it stopped" }));
    await earlier.store.stop();
    const { store, lines } = await openHistory(context, historyConfig(directory), "run2");
    assert.deepEqual(await store.readRecent(), {
      events: [eventAt(wallMs, "a.1"), eventAt(wallMs + 5, "a.2", { node: "pg2", cause: "it stopped" })],
      changes: [{ atWallMs: wallMs, ...change }],
    });
    assert.deepEqual(lines, []);
  });

  test("selects events by time and condition, the newest ones first", async (context) => {
    const fixture = await openHistory(context, historyConfig(temporaryDirectory(context)));
    const { store } = fixture;
    const { wallMs } = fixture.clock;
    for (let at = 0; at < 100; at += 1) store.addEvent(eventAt(wallMs + at, `a.${at}`));
    await until("all are on disk", async () => (await storedIds(fixture)).length === 100);
    const query = { sinceMs: wallMs + 10, untilMs: wallMs + 90, limit: 3 };
    const found = await store.readEvents({ ...query, matches: ({ id }) => id.endsWith("5") });
    assert.deepEqual(
      found.events.map(({ id }) => id),
      ["a.65", "a.75", "a.85"],
    );
  });

  test("has files that only the owner can read", async (context) => {
    const directory = temporaryDirectory(context);
    const { store, clock } = await openHistory(context, historyConfig(directory));
    store.addEvent(eventAt(clock.wallMs, "a.1"));
    await store.stop();
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(statSync(join(directory, "events-0000000001.jsonl")).mode & 0o777, 0o600);
    assert.equal(existsSync(join(directory, "lock")), false);
  });

  test("that is off touches no file", async (context) => {
    const { store, clock } = await openHistory(context, null);
    store.addEvent(eventAt(clock.wallMs, "a.1"));
    assert.deepEqual([await storedIds({ store }), store.usage], [[], null]);
  });
});

describe("damage", limit, () => {
  test("an incomplete last line is removed, and reported once", async (context) => {
    const directory = temporaryDirectory(context);
    const earlier = await openHistory(context, historyConfig(directory));
    const { wallMs } = earlier.clock;
    for (const id of ["a.1", "a.2"]) earlier.store.addEvent(eventAt(wallMs, id));
    await earlier.store.stop();
    const file = join(directory, "events-0000000001.jsonl");
    truncateSync(file, statSync(file).size - 20);
    for (const [run, ids] of [
      ["run2", ["a.1", "run2"]],
      ["run3", ["a.1", "run2", "run3"]],
    ] as const) {
      const { store, lines } = await openHistory(context, historyConfig(directory), run);
      store.addEvent(eventAt(wallMs + 10, run));
      await store.stop();
      await store.configure(historyConfig(directory));
      assert.deepEqual(await storedIds({ store }), ids);
      assert.deepEqual(
        lines.map(({ msg, file: name }) => [msg, name]),
        run === "run2" ? [["incomplete line at the end of a history file removed", file]] : [],
      );
      await store.stop();
    }
  });

  test("damaged lines and files are left out, and reported once for each file", async (context) => {
    const directory = temporaryDirectory(context);
    const earlier = await openHistory(context, historyConfig(directory));
    const { wallMs } = earlier.clock;
    earlier.store.addEvent(eventAt(wallMs, "a.1"));
    await earlier.store.stop();
    const file = join(directory, "events-0000000001.jsonl");
    const good = readFileSync(file, "utf8").trimEnd();
    const bad = [
      "",
      "\u0000\u0000",
      "{",
      '{"t":1}',
      good.replace('"error"', '"fatal"'),
      good.slice(0, -9),
      good.replace(/"at":\d+/, '"at":1e300'),
      good.replace(/"at":\d+/, '"at":-1'),
      good.replace(/"t":\d+/, '"t":9999999999999999'),
      "[]",
      "null",
    ];
    appendFileSync(file, `${[...bad, "x".repeat(3_000_000), good.replace("a.1", "a.2")].join("\n")}\n`);
    writeFileSync(join(directory, "events-0000000000.jsonl.gz"), "no compressed data");
    writeFileSync(join(directory, "events-99.jsonl"), good);
    const { store, lines } = await openHistory(context, historyConfig(directory), "run2");
    for (let time = 0; time < 2; time += 1) assert.deepEqual(await storedIds({ store }), ["a.1", "a.2"]);
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ["damaged lines of a history file left out", "damaged lines of a history file left out"],
    );
  });

  test("a directory that cannot be written is reported once; writing continues when it can", async (context) => {
    const directory = temporaryDirectory(context);
    writeFileSync(directory, "a file in its place");
    const { store, lines, clock } = await openHistory(context, historyConfig(directory));
    store.addEvent(eventAt(clock.wallMs, "a.1"));
    await until("the error", () => lines.length > 0);
    assert.deepEqual(
      [lines[0]?.msg, store.usage],
      ["history not written; the service goes on without it", { isWriting: false, dropped: 0 }],
    );
    rmSync(directory);
    await until("the next attempt", async () => (await storedIds({ store })).length === 1);
    await until("the end of the error", () => lines.at(-1)?.msg === "history is written");
    assert.equal(lines.length, 2);
  });

  test("lines that cannot be written are dropped beyond a bound, and counted", async (context) => {
    const directory = temporaryDirectory(context);
    writeFileSync(directory, "a file in its place");
    const { store, clock } = await openHistory(context, historyConfig(directory));
    for (let at = 0; at < 1_000; at += 1)
      store.addEvent(eventAt(clock.wallMs, `a.${at}`, { message: "x".repeat(10_000) }));
    assert.ok((store.usage?.dropped ?? 0) > 500, JSON.stringify(store.usage));
  });
});

describe("files", limit, () => {
  test("are rotated by size: compressed, and the oldest deleted", async (context) => {
    const directory = temporaryDirectory(context);
    // A quarter is for events: 16 files of 16 kB.
    const config = historyConfig(directory, { sizeMax: 1024 * 1024 });
    const fixture = await openHistory(context, config);
    let { wallMs } = fixture.clock;
    // Random texts, which compression does not shorten much.
    const message = (): string => Array.from({ length: 500 }, () => Math.random().toString(36).slice(2)).join("");
    for (let at = 0; at < 200; at += 1)
      fixture.store.addEvent(eventAt((wallMs += 1), `a.${at}`, { message: message() }));
    await fixture.store.stop();
    const { store, clock } = await openHistory(context, config, "run2");
    store.addEvent(eventAt(clock.wallMs + 1_000, "last"));
    const sizes = (): number => filesIn(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    await until("a tidy directory", () => filesIn(directory).filter((name) => name.endsWith(".jsonl")).length <= 1);
    assert.ok(sizes() <= 256 * 1024, `${sizes()} bytes`);
    const ids = await storedIds({ store });
    assert.ok(ids.length > 10 && ids.length < 201, `${ids.length} events`);
    assert.deepEqual(ids.at(-1), "last");
    assert.equal(ids.includes("a.0"), false);
  });

  test("are deleted at their age, but for the newest", async (context) => {
    const directory = temporaryDirectory(context);
    const config = historyConfig(directory, { sizeMax: 1024 * 1024, ageMaxMs: 3_600_000 });
    const earlier = await openHistory(context, config);
    const message = "x".repeat(20_000);
    for (const id of ["a.1", "a.2", "a.3"]) earlier.store.addEvent(eventAt(earlier.clock.wallMs, id, { message }));
    await earlier.store.stop();
    const oldS = (Date.now() - 7_200_000) / 1000;
    for (const name of filesIn(directory)) utimesSync(join(directory, name), oldS, oldS);
    const { store, clock } = await openHistory(context, config, "run2");
    store.addEvent(eventAt(clock.wallMs, "b.1"));
    await until("only the newest", async () => (await storedIds({ store })).join() === "b.1");
  });

  test("a clock that is set back begins a new file; all events are found by their time", async (context) => {
    const directory = temporaryDirectory(context);
    const fixture = await openHistory(context, historyConfig(directory));
    const { store } = fixture;
    const { wallMs } = fixture.clock;
    for (const [id, at] of [
      ["a.1", wallMs],
      ["a.2", wallMs - 3_600_000],
      ["a.3", wallMs - 3_599_000],
    ] as const) {
      fixture.clock.wallMs = at;
      store.addEvent(eventAt(at, id));
    }
    await until("all are on disk", async () => (await storedIds(fixture)).length === 3);
    const names = filesIn(directory).map((name) => name.replace(/\.gz(\.tmp)?$/, ""));
    assert.deepEqual([...new Set(names)], ["events-0000000001.jsonl", "events-0000000002.jsonl"]);
    const query = { sinceMs: wallMs - 3_600_000, untilMs: wallMs - 1, limit: 10, matches: () => true };
    assert.deepEqual(
      (await store.readEvents(query)).events.map(({ id }) => id),
      ["a.2", "a.3"],
    );
  });

  test("an event that is sure only after a while is kept in order, and found by the time at which it happened", async (context) => {
    const directory = temporaryDirectory(context);
    const fixture = await openHistory(context, historyConfig(directory));
    const { store, clock } = fixture;
    // Files are selected by the time at which they were written.
    const wallMs = clock.wallMs - 60_000;
    for (const [id, at, agoMs] of [
      ["a.1", wallMs, 0],
      ["a.2", wallMs + 12_000, 0],
      ["a.3", wallMs + 12_000, 10_000],
    ] as const) {
      clock.wallMs = at;
      store.addEvent(eventAt(at - agoMs, id));
    }
    await until("all are on disk", async () => (await storedIds(fixture)).length === 3);
    assert.equal(filesIn(directory).length, 1);
    const find = async (sinceMs: number, untilMs: number): Promise<readonly string[]> => {
      const query = { sinceMs: wallMs + sinceMs, untilMs: wallMs + untilMs, limit: 10, matches: () => true };
      return (await store.readEvents(query)).events.map(({ id }) => id);
    };
    assert.deepEqual(await find(0, 5_000), ["a.1", "a.3"]);
    assert.deepEqual(await find(5_000, 20_000), ["a.2"]);
  });

  test("a deleted directory is created again", async (context) => {
    const directory = temporaryDirectory(context);
    const { store, clock } = await openHistory(context, historyConfig(directory));
    store.addEvent(eventAt(clock.wallMs, "a.1"));
    await until("a file", async () => (await storedIds({ store })).length === 1);
    rmSync(directory, { recursive: true });
    let at = 1;
    await until("a new file", async () => {
      store.addEvent(eventAt(clock.wallMs, `a.${(at += 1)}`));
      return existsSync(directory) && (await storedIds({ store })).length > 0;
    });
  });
});
