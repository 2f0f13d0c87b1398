import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  readAnnouncement,
  readHeartbeat,
  writtenAnnouncement,
  writtenHeartbeat,
} from "../../../../src/features/switchover/peers/announcement.ts";

const pooler = { pooler: "pgb1", console: "rolecall 0a", databases: ["orders"] };
const announced = { run: "r1", cluster: "orders", deadline_ms: 15_000, poolers: [pooler] };

test("what is written is what is read", () => {
  const { deadline_ms: deadlineMs, ...rest } = announced;
  const announcement = { ...rest, deadlineMs, finish: null };
  const finish = {
    generation: 3,
    start: "request",
    leader: "pg1",
    candidate: null,
    mayBeRequested: false,
    evidence: { systemIdentifier: null, timeline: 4 },
  } as const;
  for (const written of [announcement, { ...announcement, finish }])
    assert.deepEqual(readAnnouncement(JSON.parse(writtenAnnouncement(written))), written);
  const targets = [
    { pooler: "pgb1", database: "a" },
    { pooler: "pgb2", database: "a" },
    { pooler: "pgb1", database: "b" },
  ];
  const read = readHeartbeat(
    JSON.parse(writtenHeartbeat({ open: targets, watched: targets.slice(1), leftMs: 1_499.6, mayBeRequested: true })),
  );
  assert.ok(typeof read === "object");
  assert.deepEqual(new Set(read.watched), new Set(targets.slice(1)));
  assert.deepEqual([new Set(read.open), read.leftMs, read.mayBeRequested], [new Set(targets), 1_500, true]);
  const none = { open: [], watched: [], leftMs: 0, mayBeRequested: false };
  assert.deepEqual(readHeartbeat(JSON.parse(writtenHeartbeat(none))), none);
  const same = { open: null, watched: null, leftMs: null, mayBeRequested: false };
  assert.deepEqual(readHeartbeat(JSON.parse(writtenHeartbeat(same))), same);
});

for (const [title, body] of [
  ["no object", null],
  ["a run with a slash", { ...announced, run: "a/b" }],
  ["a deadline that is over", { ...announced, deadline_ms: 0 }],
  ["a deadline after more than an hour", { ...announced, deadline_ms: 3_600_001 }],
  ["no pooler", { ...announced, poolers: [] }],
  ["a pooler twice", { ...announced, poolers: [pooler, pooler] }],
  ["a pooler without databases", { ...announced, poolers: [{ ...pooler, databases: [] }] }],
  ["a pooler without a console", { ...announced, poolers: [{ ...pooler, console: "" }] }],
  ["65 poolers", { ...announced, poolers: Array.from({ length: 65 }, (_, at) => ({ ...pooler, pooler: `p${at}` })) }],
  ["257 databases", { ...announced, poolers: [{ ...pooler, databases: Array.from({ length: 257 }, String) }] }],
  ["an unknown key", { ...announced, password: "x" }],
  ["an address", { ...announced, poolers: [{ ...pooler, address: "10.0.0.1:6432" }] }],
] as const)
  test(`is no announcement: ${title}`, () => assert.equal(typeof readAnnouncement(body), "string"));

test("nothing that is sent makes reading fail", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      readAnnouncement(body);
      readHeartbeat(body);
      readHeartbeat({ open: body });
      readAnnouncement({ ...announced, poolers: body });
    }),
  );
});
