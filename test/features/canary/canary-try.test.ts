/** One try of a canary against a server that answers, errs, hangs or closes, in each of its phases. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import type { CanaryKind, TryOutcome } from "../../../src/features/canary/core/canary.ts";
import { tryCanary } from "../../../src/features/canary/canary-try.ts";
import { parseCanaryAddress } from "../../../src/features/canary/config/canary-address.ts";
import { FakePostgres, type FakeAnswer } from "../../fake/fake-postgres.ts";
import { freePort } from "../../fake/free-port.ts";
import { listenDuringTest } from "../../fake/listen.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

const who = { address: "10.0.0.2", port: "5432", in_recovery: "f", may_ask_system: "t" };

/** Answers as a primary does. @param wrong what it answers in place of that, by what the statement contains */
function primary(wrong: Readonly<Record<string, FakeAnswer>> = {}): (sql: string) => FakeAnswer {
  return (sql) => {
    const found = Object.entries(wrong).find(([part]) => sql.includes(part));
    if (found !== undefined) return found[1];
    if (sql.startsWith("BEGIN")) return { rows: [who] };
    if (sql.includes("pg_control_system()")) return { rows: [{ system: "7" }] };
    return sql.includes("AS age_ms") ? { rows: [{ age_ms: "1200" }] } : { rows: [], tag: sql.split(" ")[0] ?? "" };
  };
}

interface Tried {
  readonly kind?: CanaryKind;
  readonly timeoutMs?: number;
  readonly passwordFile?: string;
  readonly expected?: string | null;
  readonly signal?: AbortSignal;
}

/** Tries once at a port. */
function tryAt(
  port: number,
  { kind = "write", timeoutMs = 2_000, passwordFile, expected = "7", signal }: Tried = {},
): Promise<TryOutcome> {
  const url = parseCanaryAddress(`postgres://canary@127.0.0.1:${port}/app`) ?? assert.fail("the url");
  return tryCanary(
    { pool: "w", url, intervalMs: 5_000, timeoutMs, passwordFile: passwordFile ?? null, tls: null },
    kind,
    {
      now: () => performance.now(),
      signal: signal ?? new AbortController().signal,
      row: { instance: "edge1:8008", pool: "w", target: url.target },
      expectedSystem: () => expected,
    },
  );
}

async function started(
  context: TestContext,
  answer: (sql: string) => FakeAnswer,
  password: string | null = null,
): Promise<FakePostgres> {
  const database = new FakePostgres(answer, password);
  await database.start();
  context.after(() => database.stop());
  return database;
}

/** `code message` of a try that has failed. */
function errorOfTry(outcome: TryOutcome): string {
  return outcome.kind === "failed" ? `${outcome.error.code}: ${outcome.error.message}` : outcome.kind;
}

suite("a try", () => {
  test("writes one row and commits, in this order, and ends the connection", async (context) => {
    const statements: string[] = [];
    const database = await started(context, (sql) => {
      statements.push(sql.includes("INSERT INTO") ? "INSERT INTO" : sql.split(/[ ;]/, 2).join(" "));
      return primary()(sql);
    });
    const outcome = await tryAt(database.port);
    assert.ok(outcome.kind === "passed");
    assert.deepEqual(outcome.server, { address: "10.0.0.2", port: 5432, isInRecovery: false, system: "7" });
    assert.deepEqual(statements, ["BEGIN ", "SELECT system_identifier::text", "INSERT INTO", "COMMIT"]);
    await until("the end of the connection", () => database.connections === 0);
  });

  test("needs disk space before it writes: the row alone finds place in its page on a full volume", async (context) => {
    const full = 'could not write to file "base/pgsql_tmp/pgsql_tmp1.0": No space left on device';
    const database = await started(context, (sql) =>
      /^SET LOCAL work_mem = 64; .*generate_series.*; INSERT INTO/.test(sql)
        ? { sqlState: "53100", message: full }
        : primary()(sql),
    );
    assert.equal(errorOfTry(await tryAt(database.port)), `53100: ${full}`);
    assert.equal((await tryAt(database.port, { kind: "read" })).kind, "passed");
  });

  test("reads how old the row is, and writes nothing", async (context) => {
    const statements: string[] = [];
    const database = await started(context, (sql) => {
      statements.push(sql);
      return primary()(sql);
    });
    const outcome = await tryAt(database.port, { kind: "read" });
    assert.equal(outcome.kind === "passed" ? outcome.ageMs : outcome.kind, 1_200);
    assert.match(statements[0] ?? "", /^BEGIN READ ONLY; SET LOCAL statement_timeout/);
    assert.ok(!statements.some((sql) => sql.includes("INSERT")));
  });

  const error = (sqlState: string, message: string): FakeAnswer => ({ sqlState, message });
  const rows: readonly (readonly [
    title: string,
    wrong: Readonly<Record<string, FakeAnswer>>,
    said: string | RegExp,
  ])[] = [
    [
      "the table is missing",
      { INSERT: error("42P01", 'relation "rolecall_canary" does not exist') },
      '42P01: relation "rolecall_canary" does not exist',
    ],
    [
      "a replica",
      { INSERT: error("25006", "cannot execute INSERT in a read-only transaction") },
      /^25006: cannot execute INSERT/,
    ],
    [
      "the disk is full at the commit",
      { COMMIT: error("53100", "No space left on device") },
      "53100: No space left on device",
    ],
    [
      "no answer to the first query",
      { BEGIN: "silence" },
      /^timeout: logged in, but no answer to the first query .* within 0\.3 s$/,
    ],
    ["no answer to the write", { INSERT: "silence" }, "timeout: no answer to the write within 0.3 s"],
    [
      "no answer to the commit",
      { COMMIT: "silence" },
      "timeout: the write was accepted, but its commit is not answered within 0.3 s, as where it waits for a synchronous standby",
    ],
    ["closed at the write", { INSERT: "close" }, "closed: the connection was closed before the answer to the write"],
    ["closed at the commit", { COMMIT: "close" }, "closed: the connection was closed before the answer to the commit"],
    [
      "a commit that is a rollback",
      { COMMIT: { rows: [], tag: "ROLLBACK" } },
      "protocol: the server answers ROLLBACK to COMMIT",
    ],
    [
      "another lock on the row",
      { INSERT: error("55P03", "canceling statement due to lock timeout") },
      "55P03: canceling statement due to lock timeout",
    ],
    [
      "an earlier commit that waits",
      { INSERT: error("55P03", "canceling statement due to lock timeout"), SyncRep: { rows: [{ waits_ms: "8000" }] } },
      "timeout: the commit of an earlier write waits for 8.0 s for a synchronous standby (SyncRep)",
    ],
    ["escapes for terminals", { INSERT: error("XX000", "a\u001b[31mred") }, "XX000: a?[31mred"],
  ];
  for (const [title, wrong, said] of rows)
    test(`says what failed: ${title}`, async (context) => {
      const database = await started(context, primary(wrong));
      const outcome = errorOfTry(await tryAt(database.port, { timeoutMs: 300 }));
      if (typeof said === "string") assert.equal(outcome, said);
      else assert.match(outcome, said);
      await until("the end of the connection", () => database.connections === 0);
    });

  test("reaches another database: nothing is written there", async (context) => {
    const statements: string[] = [];
    const database = await started(context, (sql) => {
      statements.push(sql);
      return primary()(sql);
    });
    const outcome = errorOfTry(await tryAt(database.port, { expected: "8" }));
    assert.equal(
      outcome,
      "other_database: reached another database: its system identifier is 7, that of the cluster is 8",
    );
    assert.ok(!statements.some((sql) => sql.includes("INSERT")));
  });

  test("nobody listens", async () => {
    assert.equal(errorOfTry(await tryAt(await freePort())), "ECONNREFUSED: connection refused");
  });

  test("a balancer without a server closes", async (context) => {
    const port = await listenDuringTest(
      context,
      createServer((socket) => socket.destroy()),
    );
    assert.match(errorOfTry(await tryAt(port)), /^(closed|ECONNRESET): /);
  });

  test("what answers is no PostgreSQL", async (context) => {
    const port = await listenDuringTest(
      context,
      createServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    );
    assert.match(errorOfTry(await tryAt(port)), /^protocol: .*is it a PostgreSQL or a pooler\?$/);
  });

  test("a password is asked for: none, a wrong one, the right one on loopback", async (context) => {
    const database = await started(context, primary(), "hunter2");
    const file = (text: string): string => {
      const name = join(temporaryFolder("canary"), "password");
      writeFileSync(name, `${text}\n`);
      return name;
    };
    assert.match(errorOfTry(await tryAt(database.port)), /^no_password: the server asks for the password of canary/);
    const wrong = errorOfTry(await tryAt(database.port, { passwordFile: file("wrong-one") }));
    assert.equal(wrong, "28P01: password authentication failed");
    assert.match(
      errorOfTry(await tryAt(database.port, { passwordFile: "/nonexistent" })),
      /^no_password: .*\/nonexistent/,
    );
    assert.equal(errorOfTry(await tryAt(database.port, { passwordFile: file("hunter2") })), "passed");
  });

  test("that is ended says nothing, and leaves no connection", async (context) => {
    const database = await started(context, primary({ INSERT: "silence" }));
    const ending = new AbortController();
    const outcome = tryAt(database.port, { signal: ending.signal });
    await until("a connection", () => database.connections === 1);
    ending.abort();
    assert.equal((await outcome).kind, "own_failure");
    await until("its end", () => database.connections === 0);
  });
});
