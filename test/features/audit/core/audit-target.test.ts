import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import type { AuditedPool } from "../../../../src/core/balancing/audited/audit-target.ts";
import type { ServerReading, ServerUse } from "../../../../src/core/balancing/audited/reading.ts";
import { AuditPlay, serverOf } from "./audit-play.ts";

interface Step {
  readonly at: number;
  readonly may?: Readonly<Record<string, string>>;
  readonly has?: Readonly<Record<string, string>> | string;
  readonly finds?: readonly string[];
}

interface Row {
  readonly given: string;
  readonly shares?: boolean;
  readonly keeps?: boolean;
  readonly lists?: AuditedPool["lists"];
  readonly steps: readonly Step[];
}

const rows: readonly Row[] = parse(readFileSync("test/spec/audit/looks.yaml", "utf8"));
const uses: readonly ServerUse[] = ["takes", "down", "spare", "held"];

function serversOf(has: NonNullable<Step["has"]>): readonly ServerReading[] | string {
  if (typeof has === "string") return has;
  return Object.entries(has).map(([server, text]) => {
    const [counts = "", ...words] = text.split(" ");
    const [sessions = "", total = ""] = counts.split("/");
    const valueOf = (name: string): string | null =>
      words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
    const numberOf = (name: string): number | null => (valueOf(name) === null ? null : Number(valueOf(name)));
    const [closed, ago] = [valueOf("closed"), numberOf("ago")];
    return serverOf(server, {
      sessions: Number(sessions),
      total: total === "-" ? null : Number(total),
      use: closed === null ? (uses.find((one) => words.includes(one)) ?? "takes") : "held",
      address: { host: valueOf("at") ?? server, port: 5432 },
      newestAgoMs: ago === null ? null : ago * 1_000,
      endedBytes: numberOf("bytes"),
      failed: numberOf("failed"),
      closed: closed ?? (words.includes("down") ? "DOWN" : null),
    });
  });
}

describe("a target against the snapshot", () => {
  for (const { given, steps, shares = true, keeps = true, lists = "all" } of rows) {
    test(given, () => {
      const play = new AuditPlay({ keepsSessions: keeps, lists }, ["pg1", "pg2", "pg3"]);
      for (const { at, may = {}, has, finds } of steps) {
        play.judge(at * 1_000, may);
        if (has === undefined) continue;
        const found = play.look(at * 1_000, serversOf(has), shares);
        if (finds !== undefined) assert.deepEqual(found, finds, `at ${at} s`);
      }
    });
  }
});

test("a database that somebody has paused, while a node is fit, is a pool that nobody can use", () => {
  const play = new AuditPlay({ keepsSessions: false, lists: "none" }, ["pg1", "pg2"]);
  play.judge(0, { pg1: "new", pg2: "kept" });
  const servers = [serverOf("pg1", { total: null })];
  assert.deepEqual(play.look(1_000, servers, false, "paused"), []);
  // It may be a switchover, but it is not as it should be.
  assert.deepEqual(
    play.memory.suspected.map(({ kind, what, isUnusable }) => [kind, what, isUnusable]),
    [["starved", "is paused", true]],
  );
  assert.deepEqual(play.look(29_000, servers, false, "paused"), []);
  assert.deepEqual(play.look(32_000, servers, false, "paused"), ["starved - - unusable"]);
  assert.equal(play.memory.differences[0]?.what, "is paused");
  assert.deepEqual(play.memory.suspected, []);
  assert.deepEqual(play.look(33_000, servers, false), []);
  // Without a node that is fit, nobody could use it anyway.
  play.judge(40_000, { pg1: "none down" });
  assert.deepEqual([...play.memory.unled], []);
  for (const at of [41_000, 90_000]) assert.deepEqual(play.look(at, [], false, "paused"), []);
  assert.deepEqual([...play.memory.unled], ["be"]);
  assert.deepEqual(play.memory.suspected, []);
});

test("looks again when the mechanism must have moved what is suspected", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "none superseded", pg2: "new" });
  play.look(1_000, [serverOf("pg1", { sessions: 2 }), serverOf("pg2")]);
  assert.equal(play.lookAgainMs, 3_000);
});

test("finds nothing missing while not all members, or not all of their addresses, are known", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"], false);
  play.judge(0, { pg1: "new", pg2: "kept" });
  for (const at of [0, 5_000, 60_000]) assert.deepEqual(play.look(at, [serverOf("pg1"), serverOf("old")]), []);
});

test("goes by the address of a server, not by its name", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "new", pg2: "none demoted" });
  const servers = [
    serverOf("pg1", { address: { host: "pg2", port: 5432 }, sessions: 1 }),
    serverOf("pg2", { address: { host: "pg1", port: 5432 } }),
  ];
  play.look(0, servers);
  assert.deepEqual(play.look(5_000, servers), ["misrouted pg1 pg2"]);
});

test("takes a server for its node at an address that no member has, unless other servers are at those of members", () => {
  const elsewhere = { host: "pg1", port: 6432 };
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "new", pg2: "kept" });
  const ofPooler = ["pg1", "pg2"].map((server) => serverOf(server, { address: { host: server, port: 6432 } }));
  for (const at of [0, 20_000]) assert.deepEqual(play.look(at, ofPooler), []);
  const oneWrong = [serverOf("pg1", { address: elsewhere }), serverOf("pg2", { address: { host: "pg2", port: 5432 } })];
  play.look(25_000, oneWrong);
  assert.deepEqual(play.look(36_000, oneWrong), ["missing pg1 -", "missing - pg1"]);
  assert.deepEqual(
    play.memory.differences.map(({ what, belongsAt }) => [what, belongsAt]),
    [
      ["leads to no member of c (pg1:6432)", { host: "pg1", port: 5432 }],
      ["lacks a server for pg1", null],
    ],
  );
});

test("says what it found last of a server, and no more once the server leads to another node", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "none superseded", pg2: "new" });
  const servers = [serverOf("a", { address: { host: "pg1", port: 5432 }, sessions: 2 }), serverOf("pg2")];
  play.look(0, servers);
  assert.deepEqual(play.look(5_000, servers), ["misrouted a pg1"]);
  assert.deepEqual(play.look(6_000, [serverOf("a", { address: { host: "old", port: 5432 } }), serverOf("pg2")]), []);
});

test("gives the checks of a target that starts anew their time before new sessions count", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "new", pg2: "kept wrong_role" });
  const look = (at: number, total: number, unchangedMs: number): readonly string[] =>
    play.look(at, [serverOf("pg1", { total: 9 }), serverOf("pg2", { total, unchangedMs })]);
  look(0, 0, 60_000);
  look(10_000, 0, 70_000);
  // It has just been started: every server is up until its first check.
  assert.deepEqual(look(11_000, 4, 0), []);
  assert.deepEqual(look(13_900, 6, 2_900), []);
  assert.deepEqual(look(14_000, 6, 3_000), []);
  assert.deepEqual(look(15_000, 7, 4_000), ["misrouted pg2 pg2"]);
});

test("lists no more than 300 differences of one kind, and hides none of another kind", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "none superseded", pg2: "new" });
  const foreign = Array.from({ length: 1_000 }, (_, at) => serverOf(`s${at}`, { address: { host: "old", port: at } }));
  const servers = [...foreign, serverOf("pg1", { sessions: 1 }), serverOf("pg2")];
  play.look(0, servers);
  const found = play.look(11_000, servers);
  assert.deepEqual([found.length, found.at(-1), play.memory.servers.size], [301, "misrouted pg1 pg1", 1_002]);
});

test("gives the checks of a server that is new, or was moved to another node, their time", () => {
  const play = new AuditPlay({}, ["pg1", "pg2"]);
  play.judge(0, { pg1: "none demoted", pg2: "new" });
  const at = (host: string): ServerReading => serverOf("a", { address: { host, port: 5432 }, sessions: 2 });
  play.look(60_000, [at("pg2"), serverOf("pg1")]);
  const moved = [at("pg1"), serverOf("pg2")];
  assert.deepEqual(play.look(65_000, moved), []);
  assert.deepEqual(play.look(67_900, moved), []);
  assert.deepEqual(play.look(68_000, moved), ["misrouted a pg1"]);
});
