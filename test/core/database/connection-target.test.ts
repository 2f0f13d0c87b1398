import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connectionTarget, targetName } from "../../../src/core/database/connection-target.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-target-"));
after(() => rmSync(folder, { recursive: true }));

const passfile = join(folder, "pgpass");
writeFileSync(
  passfile,
  [
    "# a comment",
    "not a line",
    "10.0.0.5:5000:shop:app:first",
    "10.0.0.5:5000:shop:app:second",
    "10.0.0.5:*:*:a\\:b:with:colons\\\\",
    "localhost:5432:*:*:local",
    "",
  ].join("\n"),
  { mode: 0o600 },
);
const exposed = join(folder, "exposed");
writeFileSync(exposed, "*:*:*:*:seen by everybody\n", { mode: 0o644 });
const passwordFile = join(folder, "password");
writeFileSync(passwordFile, "from the file\r\nnot this\n", { mode: 0o600 });

const passwords: readonly (readonly [text: string, env: Readonly<Record<string, string>>, password: string | null])[] =
  [
    ["postgresql://app@10.0.0.5:5000/shop", { PGPASSFILE: passfile }, "first"],
    [`host=10.0.0.5 port=5000 user=app dbname=shop passfile=${passfile}`, {}, "first"],
    ["host=10.0.0.5 port=1 user=a:b", { PGPASSFILE: passfile }, "with:colons\\"],
    ["user=app", { PGPASSFILE: passfile }, "local"],
    ["host=/run/postgresql user=app", { PGPASSFILE: passfile }, "local"],
    ["host=10.0.0.9 user=app", { PGPASSFILE: passfile }, null],
    ["host=10.0.0.5 user=app", { PGPASSFILE: exposed }, null],
    ["host=10.0.0.5 user=app", { PGPASSFILE: join(folder, "missing") }, null],
    ["host=10.0.0.5 port=5000 user=app dbname=shop", { PGPASSFILE: passfile, PGPASSWORD: "variable" }, "variable"],
  ];

for (const [text, env, password] of passwords)
  test(`finds the password of ${text.replace(folder, "…")} with ${Object.keys(env).join(", ")}`, () => {
    assert.equal(connectionTarget({ from: "--dsn", text, passwordFile: null, env }).password, password);
  });

test("a password file of the command line comes first, and counts to the end of its first line", () => {
  const env = { PGPASSWORD: "variable", PGPASSFILE: passfile };
  const target = connectionTarget({ from: "--dsn", text: "host=h", passwordFile, env });
  assert.equal(target.password, "from the file");
});

test("variables of libpq fill in what the DSN leaves out", () => {
  const env = { PGHOST: "::1", PGPORT: "5000", PGUSER: "app", PGDATABASE: "shop", PGSSLMODE: "verify-full" };
  const target = connectionTarget({ from: "--dsn", text: "dbname=other", passwordFile, env });
  assert.equal(targetName(target), "app@[::1]:5000/other");
  assert.equal(target.ssl.mode, "verify-full");
  assert.equal(
    targetName(connectionTarget({ from: "--dsn", text: "user=app", passwordFile, env: {} })),
    "app@localhost:5432/app",
  );
});

const rejected: readonly (readonly [text: string, message: RegExp])[] = [
  ["host=a,b", /--dsn must name one host, the balancer/],
  ["port=0", /port of --dsn must be an integer from 1 to 65535, got "0"/],
  ["port=x", /port of --dsn must be an integer/],
  ["sslmode=maybe", /sslmode of --dsn must be one of disable, prefer/],
  ["sslrootcert=/nowhere", /Cannot read sslrootcert of --dsn: ENOENT/],
];

for (const [text, message] of rejected)
  test(`rejects ${text}`, () => {
    assert.throws(() => connectionTarget({ from: "--dsn", text, passwordFile, env: {} }), { message });
  });
