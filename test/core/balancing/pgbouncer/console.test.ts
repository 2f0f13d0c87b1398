import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import * as fc from "fast-check";
import { ConsoleError, type ConsoleFailure } from "../../../../src/core/balancing/pgbouncer/console-error.ts";
import {
  type ConsoleTarget,
  PgbouncerConsole,
  quoteDatabase,
} from "../../../../src/core/balancing/pgbouncer/console.ts";
import { MessageGuard } from "../../../../src/core/balancing/pgbouncer/message-guard.ts";
import { selfSignedCertificate } from "../../../fake/certificates.ts";
import {
  type ConsoleAnswer,
  errorMessage,
  FakeConsole,
  type FakeLogin,
  int16,
  int32,
  ready,
  rowsMessage,
  typed,
  zeroEnded,
} from "../../../fake/fake-console.ts";
import { withConsole } from "../../../fake/with-console.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";
import { until } from "../../../fake/until.ts";

/** Long enough for a busy machine: no test waits for it. */
const limitMs = 30_000;
/** Of what is meant to be late. */
const shortMs = 100;
const tls = { ca: null, cert: null, key: null, serverName: null, verify: "full" } as const;

async function fakeConsole(
  context: TestContext,
  ...given: ConstructorParameters<typeof FakeConsole>
): Promise<FakeConsole> {
  const fake = new FakeConsole(...given);
  await fake.listen(context);
  return fake;
}

function targetOf({ port }: FakeConsole, changes: Partial<ConsoleTarget> = {}): ConsoleTarget {
  return { address: { host: "127.0.0.1", port }, user: "rolecall", passwordFile: null, tls: null, ...changes };
}

function passwordFile(password: string): string {
  const file = join(temporaryFolder("console"), "password");
  writeFileSync(file, `${password}\n`);
  return file;
}

async function failure(work: Promise<unknown>): Promise<ConsoleError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ConsoleError, String(error));
  return error;
}

suite("a console", () => {
  test("gives the rows of an answer as text, and says who it is", async (context) => {
    const fake = await fakeConsole(context, {
      "SHOW DATABASES": [
        { name: "orders", host: null, port: 5432, __proto__x: "" },
        { name: "ünï", host: "h", port: 1, __proto__x: "y" },
      ],
      RELOAD: [],
    });
    await withConsole(targetOf(fake), limitMs, async (opened) => {
      assert.deepEqual(await opened.query("SHOW DATABASES", limitMs), [
        { name: "orders", host: null, port: "5432", __proto__x: "" },
        { name: "ünï", host: "h", port: "1", __proto__x: "y" },
      ]);
      assert.deepEqual(await opened.query("RELOAD", limitMs), []);
    });
    await until("the end that was announced", () => fake.starts.includes("X"));
    assert.match(fake.starts[0] ?? "", /user rolecall database pgbouncer .*application_name rolecall [0-9a-f]{12}/);
  });

  test("runs commands one after the other", async (context) => {
    const fake = await fakeConsole(context, { a: [{ is: "a" }], b: [{ is: "b" }] });
    await withConsole(targetOf(fake), limitMs, async (opened) => {
      const answers = await Promise.all(["a", "b", "a"].map((command) => opened.query(command, limitMs)));
      assert.deepEqual(
        answers.flat().map(({ is }) => is),
        ["a", "b", "a"],
      );
    });
  });

  test("goes on after a command that PgBouncer refuses", async (context) => {
    const fake = await fakeConsole(context, { "SHOW VERSION": [{ version: "PgBouncer 1.24.1" }] });
    await withConsole(targetOf(fake), limitMs, async (opened) => {
      const refused = await failure(opened.query("PAUSE\u001b[31m nothing", limitMs));
      assert.deepEqual([refused.kind, opened.isOpen], ["refused", true]);
      assert.match(refused.message, /^invalid command 'PAUSE\?\[31m nothing'/);
      assert.deepEqual(await opened.query("SHOW VERSION", limitMs), [{ version: "PgBouncer 1.24.1" }]);
    });
  });

  test("tells its end, and every later command", async (context) => {
    const fake = await fakeConsole(context);
    const opened = await PgbouncerConsole.open(targetOf(fake), limitMs);
    fake.cut();
    await opened.ended;
    assert.deepEqual([opened.isOpen, (await failure(opened.query("SHOW VERSION", limitMs))).kind], [false, "lost"]);
  });

  test("ends at once when it is closed, with a command in flight", async (context) => {
    const fake = await fakeConsole(context, () => "silence");
    const opened = await PgbouncerConsole.open(targetOf(fake), limitMs);
    const waiting = failure(opened.query("PAUSE orders", limitMs));
    await until("the command", () => fake.commands.length === 1);
    opened.close();
    assert.deepEqual([(await waiting).kind, (await waiting).message], ["lost", "the console was closed"]);
    await opened.ended;
    await until("no connection", () => fake.connections === 0);
  });

  test("a late answer ends the connection: it must not be taken for the next one", async (context) => {
    const fake = await fakeConsole(context, () => "silence");
    const opened = await PgbouncerConsole.open(targetOf(fake), limitMs);
    const [first, second] = await Promise.all([
      failure(opened.query("PAUSE orders", shortMs)),
      failure(opened.query("SHOW DATABASES", limitMs)),
    ]);
    assert.deepEqual([first.kind, second.kind, opened.isOpen], ["late", "late", false]);
    assert.deepEqual(fake.commands, ["PAUSE orders"]);
    await until("no connection", () => fake.connections === 0);
  });
});

suite("a login", () => {
  for (const kind of ["clear", "md5", "scram"] as const)
    test(`with a password, ${kind}`, async (context) => {
      const fake = await fakeConsole(context, { RELOAD: [] });
      fake.login = { kind, password: "sécret" };
      await withConsole(targetOf(fake, { passwordFile: passwordFile("sécret") }), limitMs, async (opened) => {
        assert.deepEqual(await opened.query("RELOAD", limitMs), []);
      });
      const wrong = targetOf(fake, { passwordFile: passwordFile("other") });
      assert.equal((await failure(PgbouncerConsole.open(wrong, limitMs))).kind, "refused");
      const none = await failure(PgbouncerConsole.open(targetOf(fake), limitMs));
      assert.equal(none.message, "PgBouncer asks for the password of rolecall: set password_file");
    });

  test("over TLS, with a certificate that is verified", async (context) => {
    const { cert, key, certFile } = selfSignedCertificate(context);
    const fake = await fakeConsole(context, { "SHOW VERSION": [{ version: "1" }] });
    const trusting = targetOf(fake, { tls: { ...tls, ca: certFile } });
    const none = await failure(PgbouncerConsole.open(trusting, limitMs));
    assert.deepEqual([none.kind, none.message], ["unusable", "PgBouncer offers no TLS (client_tls_sslmode)"]);
    fake.tls = { cert, key };
    await withConsole(trusting, limitMs, async (opened) => {
      assert.deepEqual(await opened.query("SHOW VERSION", limitMs), [{ version: "1" }]);
    });
    assert.match((await failure(PgbouncerConsole.open(targetOf(fake, { tls }), limitMs))).message, /self-signed/);
    const otherName = targetOf(fake, { tls: { ...tls, ca: certFile, serverName: "other.internal" } });
    assert.match((await failure(PgbouncerConsole.open(otherName, limitMs))).message, /does not match/);
  });

  for (const [title, login, kind, message] of [
    ["that PgBouncer denies", { kind: "denied", message: "not allowed" }, "refused", /^not allowed$/],
    ["that is not answered", { kind: "silence" }, "late", /^no complete answer within/],
    ["of an unknown kind", { kind: "bytes", bytes: typed("R", int32(7)) }, "unusable", /cannot be read/],
    [
      "of another protocol",
      { kind: "bytes", bytes: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n") },
      "unusable",
      /console/,
    ],
  ] as const satisfies readonly (readonly [string, FakeLogin, ConsoleFailure, RegExp])[])
    test(title, async (context) => {
      const fake = await fakeConsole(context);
      fake.login = login;
      const failed = await failure(PgbouncerConsole.open(targetOf(fake), kind === "late" ? shortMs : limitMs));
      assert.equal(failed.kind, kind);
      assert.match(failed.message, message);
      await until("no connection", () => fake.connections === 0);
    });

  test("never sends the password in clear over a network", () => {
    const asked = typed("R", int32(3));
    const guard = new MessageGuard();
    assert.throws(
      () => guard.take(asked),
      (error) => error instanceof ConsoleError && error.kind === "refused" && /in clear: set tls/.test(error.message),
    );
    const onThisMachine = new MessageGuard();
    onThisMachine.isPrivate = true;
    assert.deepEqual(onThisMachine.take(asked), asked);
  });

  test("where nothing listens, or a file cannot be read", async (context) => {
    const fake = await fakeConsole(context);
    const folder = temporaryFolder("console");
    for (const [changes, message] of [
      [{ address: { folder, port: 6432 } }, "the socket does not exist (ENOENT)"],
      [{ address: { host: "127.0.0.1", port: 1 } }, "the connection was refused (ECONNREFUSED)"],
    ] as const) {
      const failed = await failure(PgbouncerConsole.open(targetOf(fake, changes), limitMs));
      assert.deepEqual([failed.kind, failed.message], ["absent", message]);
    }
    fake.login = { kind: "clear", password: "x" };
    const noFile = targetOf(fake, { passwordFile: join(folder, "none") });
    assert.match((await failure(PgbouncerConsole.open(noFile, limitMs))).message, /no such file.*none/);
  });
});

suite("a hostile server", () => {
  const cutError = typed("E", Buffer.from("SERROR\0Mno end"));
  const twoColumns = typed("T", int16(2), zeroEnded("a"), Buffer.alloc(18), zeroEnded("b"), Buffer.alloc(18));
  const answers: readonly (readonly [string, ConsoleAnswer, ConsoleFailure])[] = [
    ["closes the connection", "close", "lost"],
    ["ends with an error", { error: "server shutting down", severity: "FATAL" }, "lost"],
    ["never answers", "silence", "late"],
    ["stops within a message", typed("C", zeroEnded("SHOW")).subarray(0, 6), "late"],
    ["sends an error without its end", Buffer.concat([cutError, ready]), "unusable"],
    ["sends a message of 4 GB", Buffer.from([0x44, 0xff, 0xff, 0xff, 0xff]), "unusable"],
    ["sends a message of no length", Buffer.from([0x44, 0, 0, 0, 0]), "unusable"],
    ["sends another protocol", Buffer.from("220 smtp ready\r\n"), "unusable"],
    ["sends a copy", typed("G", Buffer.from([0]), int16(0)), "unusable"],
    ["sends fewer columns than it says", typed("T", int16(2), zeroEnded("a"), Buffer.alloc(18)), "unusable"],
    ["sends a negative number of columns", typed("T", int16(-1)), "unusable"],
    ["sends 65 columns", rowsMessage([Object.fromEntries(Array.from({ length: 65 }, (_, at) => [at, 1]))]), "unusable"],
    ["sends a value longer than its row", Buffer.concat([twoColumns, typed("D", int16(1), int32(9))]), "unusable"],
    ["sends a huge value", rowsMessage([{ a: "x".repeat(70_000) }]), "unusable"],
    ["sends a login in an answer", typed("R", int32(99)), "unusable"],
    ["sends a row that nothing describes", typed("D", int16(1), int32(1), Buffer.from("x")), "late"],
    ["sends two answers", Buffer.concat([rowsMessage([{ a: 1 }]), rowsMessage([{ b: 1 }]), ready]), "unusable"],
    [
      "sends too many rows",
      Buffer.concat([rowsMessage(Array.from({ length: 100_001 }, () => ({ a: 1 }))), ready]),
      "unusable",
    ],
    ["sends too much", rowsMessage(Array.from({ length: 300 }, () => ({ a: "x".repeat(60_000) }))), "unusable"],
  ];
  for (const [title, answer, kind] of answers)
    test(`that ${title} is ${kind}, and its connection ends`, async (context) => {
      const fake = await fakeConsole(context, () => answer);
      const opened = await PgbouncerConsole.open(targetOf(fake), limitMs);
      const failed = await failure(opened.query("SHOW CLIENTS", kind === "late" ? shortMs : limitMs));
      assert.deepEqual([failed.kind, opened.isOpen], [kind, false], failed.message);
      await until("no connection", () => fake.connections === 0);
    });

  test("that talks between answers is cut at a limit", async (context) => {
    const notice = errorMessage("NOTICE", "x".repeat(60_000));
    notice.write("N");
    const fake = await fakeConsole(context, { RELOAD: [] });
    const opened = await PgbouncerConsole.open(targetOf(fake), limitMs);
    await opened.query("RELOAD", limitMs);
    fake.send(notice);
    assert.deepEqual(await opened.query("RELOAD", limitMs), []);
    fake.send(Buffer.concat([notice, notice]));
    await opened.ended;
    assert.equal((await failure(opened.query("RELOAD", limitMs))).kind, "unusable");
  });

  test("with any bytes neither crashes nor hangs the console", async (context) => {
    const fake = await fakeConsole(context);
    const message = fc
      .tuple(
        fc.constantFrom("R", "S", "K", "Z", "T", "D", "C", "E", "N", "I", "v", "G"),
        fc.uint8Array({ maxLength: 40 }),
      )
      .map(([type, body]) => typed(type, body));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
      fc.array(message, { maxLength: 6 }).map((messages) => Buffer.concat([...messages, ready])),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (sent, atLogin) => {
        fake.login = atLogin ? { kind: "bytes", bytes: sent } : { kind: "trust" };
        fake.answer = () => sent;
        const target = targetOf(fake);
        await withConsole(target, 20, (opened) => opened.query("SHOW POOLS", 20)).catch((error: unknown) => {
          assert.ok(error instanceof ConsoleError, String(error));
        });
      }),
      { numRuns: 300 },
    );
    await until("no connection", () => fake.connections === 0);
  });
});

test("a database is quoted where its name needs it", () => {
  const plain = ["orders", "Orders_1", "1", "x".repeat(63)];
  assert.deepEqual(plain.map(quoteDatabase), plain);
  const odd = ["a-b.c", 'odd"name', "with space", "o'q", "ünï;x", "a\n", ""].map(quoteDatabase);
  assert.deepEqual(odd.slice(0, 2), ['"a-b.c"', '"odd""name"']);
  for (const text of odd) assert.match(text, /^"([^"]|"")*"$/);
});
