/** A session of PostgreSQL, against a server that answers, refuses, hangs or closes. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { connectionTarget, type ConnectionTarget } from "../../../src/core/database/connection-target.ts";
import { DatabaseSession, settleSsl, SqlError, withSession } from "../../../src/core/database/database-session.ts";
import { FakePostgres, type FakeAnswer } from "../../fake/fake-postgres.ts";

const limits = { timeoutMs: 300, signals: [] };

async function serverOf(
  context: TestContext,
  answer: FakeAnswer,
  password: string | null = null,
): Promise<FakePostgres> {
  const server = new FakePostgres(() => answer, password);
  await server.start();
  context.after(() => server.stop());
  return server;
}

function targetOf({ port }: FakePostgres, more = "sslmode=disable", env = {}): ConnectionTarget {
  return connectionTarget({
    from: "dsn",
    text: `host=127.0.0.1 port=${port} user=app ${more}`,
    passwordFile: null,
    env: { PGPASSFILE: "/nonexistent", ...env },
  });
}

const rows = { rows: [{ one: "1", none: null }] } as const;

test("a query gives its rows as text", async (context) => {
  const target = targetOf(await serverOf(context, rows));
  assert.deepEqual(await withSession(target, limits, (session) => session.query("select", limits)), rows.rows);
});

const failures: readonly (readonly [given: string, answer: FakeAnswer, state: string | null, message: RegExp])[] = [
  ["a refusal", { sqlState: "25006", message: "read-only transaction" }, "25006", /read-only transaction/],
  ["a server that hangs", "silence", null, /no answer within 300 ms/],
  ["a server that closes", "close", null, /terminated|closed/],
];
for (const [given, answer, state, message] of failures)
  test(`a query fails after it was sent: ${given}`, async (context) => {
    const target = targetOf(await serverOf(context, answer));
    await assert.rejects(
      withSession(target, limits, (session) => session.query("select", limits)),
      (error) =>
        error instanceof SqlError && error.sqlState === state && !error.isBeforeQuery && message.test(error.message),
    );
  });

test("a server that cannot be reached, or does not accept the login, gets no query", async (context) => {
  const server = await serverOf(context, rows, "secret");
  for (const env of [{}, { PGPASSWORD: "wrong" }])
    await assert.rejects(
      DatabaseSession.open(targetOf(server, "sslmode=disable", env), limits),
      (error) => error instanceof SqlError && error.isBeforeQuery,
    );
  (await DatabaseSession.open(targetOf(server, "sslmode=disable", { PGPASSWORD: "secret" }), limits)).close();
  server.isDown = true;
  await assert.rejects(
    DatabaseSession.open(targetOf(server), limits),
    (error) => error instanceof SqlError && error.isBeforeQuery,
  );
});

test("a signal ends a query before its deadline", async (context) => {
  const target = targetOf(await serverOf(context, "silence"));
  const ended = new AbortController();
  const session = await DatabaseSession.open(target, limits);
  const query = session.query("select", { timeoutMs: 60_000, signals: [ended.signal] });
  ended.abort();
  await assert.rejects(query, SqlError);
});

test("TLS is tried first, and left out where the server has none", async (context) => {
  const server = await serverOf(context, rows);
  assert.equal((await settleSsl(targetOf(server, "sslmode=prefer"), limits)).ssl.mode, "disable");
  await assert.rejects(
    withSession(targetOf(server, "sslmode=require"), limits, async () => {}),
    /does not support SSL/,
  );
});
