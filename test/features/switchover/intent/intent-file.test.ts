import assert from "node:assert/strict";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { IntentFile } from "../../../../src/features/switchover/intent/intent-file.ts";
import {
  type LoweredSetting,
  parseIntents,
  type PauseIntent,
  writtenIntents,
} from "../../../../src/features/switchover/intent/pause-intent.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

const console1 = { address: { host: "127.0.0.1", port: 6432 }, user: "rolecall", passwordFile: null, tls: null };
const console2 = {
  address: { folder: "/run/pgbouncer", port: 6432 },
  user: "rolecall",
  passwordFile: "/etc/rolecall/password",
  tls: { ca: "/etc/ca.pem", cert: null, key: null, serverName: null, verify: "full" },
} as const;

function intentOf(run: string): PauseIntent {
  return {
    run,
    cluster: "demo",
    deadlineWallMs: 1_900_000_000_000,
    finish: {
      generation: 7,
      start: "request",
      leader: "pg1",
      candidate: "pg2",
      mayBeRequested: false,
      evidence: { systemIdentifier: "7300000000000000001", timeline: 4 },
    },
    targets: [
      { pooler: "pgb1", database: "orders", console: console1 },
      { pooler: "pgb2", database: "orders", console: console2 },
    ],
  };
}

function newFile(): IntentFile {
  const path = join(temporaryFolder("intent"), "state.json.pauses");
  return new IntentFile(() => path);
}

describe("the file of what may be paused", () => {
  test("is there before anything is paused, and what is in it is what the next process reads", async () => {
    const file = newFile();
    assert.deepEqual(await file.read(), { kind: "known", intents: [] });
    await file.announce(intentOf("r1"));
    await file.announce(intentOf("r2"));
    assert.deepEqual(await new IntentFile(() => file.path).read(), {
      kind: "known",
      intents: [intentOf("r1"), intentOf("r2")],
    });
  });

  test("a target leaves it once it is resumed, and an intent with its last target", async () => {
    const file = newFile();
    await file.announce(intentOf("r1"));
    await file.announce(intentOf("r2"));
    await file.close({ pooler: "pgb1", database: "orders" }, "r1");
    await file.close({ pooler: "pgb9", database: "orders" });
    assert.deepEqual(
      file.open.map(({ run, targets }) => [run, targets.map(({ pooler }) => pooler)]),
      [
        ["r1", ["pgb2"]],
        ["r2", ["pgb1", "pgb2"]],
      ],
    );
    await Promise.all([file.close({ pooler: "pgb2", database: "orders" }), file.retain("r2", [])]);
    assert.deepEqual(await new IntentFile(() => file.path).read(), { kind: "known", intents: [] });
    assert.deepEqual(readdirSync(join(file.path ?? "", "..")), ["state.json.pauses"], "no draft is left");
  });

  test("nothing is left of a run that ends while its intent is being written", async () => {
    const file = newFile();
    await Promise.all([file.announce(intentOf("r1")), file.retain("r1", [])]);
    assert.deepEqual(await new IntentFile(() => file.path).read(), { kind: "known", intents: [] });
  });

  test("says since when clients wait after a loss, and whose", async () => {
    const file = newFile();
    await file.announce(intentOf("r1"));
    await file.announce(intentOf("r2"));
    await file.held("r1", 1_000, [{ pooler: "pgb1", database: "orders" }]);
    await file.held("r1", 2_000, [{ pooler: "pgb2", database: "orders" }]);
    await file.held("r3", 3_000, [{ pooler: "pgb2", database: "orders" }]);
    const read = await new IntentFile(() => file.path).read();
    assert.ok(read.kind === "known");
    assert.deepEqual(
      read.intents.map(({ finish, targets }) => [finish?.heldSinceWallMs, targets.map(({ isHeld }) => isHeld)]),
      [
        [1_000, [true, true]],
        [undefined, [undefined, undefined]],
      ],
    );
  });

  test("is readable by nobody else", async () => {
    const file = newFile();
    await file.announce(intentOf("r1"));
    assert.equal(statSync(file.path ?? "").mode & 0o777, 0o600);
  });

  test("an intent that cannot be written is an error, and is not open", async () => {
    const folder = temporaryFolder("intent");
    const file = new IntentFile(() => join(folder, "missing", "state.json.pauses"));
    await assert.rejects(file.announce(intentOf("r1")), /ENOENT/);
    assert.deepEqual(file.open, []);
    mkdirSync(join(folder, "missing"));
    await file.announce(intentOf("r2"));
    assert.deepEqual(
      file.open.map(({ run }) => run),
      ["r2"],
    );
  });

  test("without a place for it nothing is announced", async () => {
    const file = new IntentFile(() => null);
    assert.deepEqual(await file.read(), { kind: "known", intents: [] });
    await assert.rejects(file.announce(intentOf("r1")), /state_file must be set/);
    assert.deepEqual(file.open, []);
  });

  for (const [title, content] of [
    ["no JSON", "{"],
    ["another format", '{"format":4,"intents":[]}'],
    [
      "a console without an address",
      writtenIntents({ intents: [intentOf("r1")], lowered: [] }).replace('"port": 6432', '"port": 0'),
    ],
    ["an unknown key", '{"format":1,"intents":[],"more":1}'],
    ["an empty file", ""],
  ] as const)
    test(`a file with ${title} is unreadable, and says so`, async () => {
      const file = newFile();
      writeFileSync(file.path ?? "", content);
      const left = await file.read();
      assert.equal(left.kind, "unreadable");
      assert.match(
        left.kind === "unreadable" ? left.problem : "",
        /^Cannot read .*state\.json\.pauses: its content must be/,
      );
    });

  test("a file that is none is unreadable", async () => {
    const file = newFile();
    mkdirSync(file.path ?? "");
    assert.equal((await file.read()).kind, "unreadable");
    await assert.rejects(file.announce(intentOf("r1")), /regular file/);
  });

  test("what is written is read as it is", () => {
    for (const lowered of [[], [{ pooler: "pgb1", console: console1, before: "15" }]]) {
      const written = { intents: [intentOf("r1")], lowered };
      assert.deepEqual(parseIntents(writtenIntents(written)), written);
    }
  });

  test("a version before it reads what names no lowered setting", () => {
    assert.match(writtenIntents({ intents: [intentOf("r1")], lowered: [] }), /"format": 2/);
  });

  test("a lowered setting stays in it after its run, until it is back, with its first value", async () => {
    const file = newFile();
    const of = (pooler: string, before: string): LoweredSetting => ({ pooler, console: console1, before });
    await file.announce(intentOf("r1"), [of("pgb1", "15")]);
    await file.close({ pooler: "pgb1", database: "orders" });
    await file.close({ pooler: "pgb2", database: "orders" });
    assert.deepEqual([file.open, file.lowered], [[], [of("pgb1", "15")]]);
    await file.announce(intentOf("r2"), [of("pgb1", "0.1"), of("pgb2", "7.5")]);
    const next = new IntentFile(() => file.path);
    await next.read();
    assert.deepEqual(next.lowered, [of("pgb1", "15"), of("pgb2", "7.5")]);
    await next.restored(["pgb1", "pgb9"]);
    assert.deepEqual(next.lowered, [of("pgb2", "7.5")]);
    assert.deepEqual(
      next.open.map(({ run }) => run),
      ["r2"],
    );
  });
});
