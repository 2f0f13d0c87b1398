import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionTarget, type ConnectionTarget } from "../../../../src/cli/rehearse/database/connection-target.ts";
import { removeSchema } from "../../../../src/cli/rehearse/database/rehearsal-schema.ts";
import { FakePostgres, type FakeAnswer } from "../../../fake/fake-postgres.ts";

const schema = "rolecall_rehearsal_00000000";

function targetOf(database: FakePostgres): ConnectionTarget {
  const text = `host=127.0.0.1 port=${database.port} user=app sslmode=disable`;
  return connectionTarget({ from: "--dsn", text, passwordFile: null, env: {} });
}

/** The answers to removals in order, the last one repeated, and how the removal ends. */
const cases: readonly (readonly [title: string, answers: readonly FakeAnswer[], problem: RegExp | null])[] = [
  ["a removal that works", [{ rows: [{ exists: "f" }] }], null],
  ["a broken connection first", ["close", { rows: [{ exists: "f" }] }], null],
  ["a server in recovery first", [{ sqlState: "25006", message: "read-only" }, { rows: [{ exists: "f" }] }], null],
  ["a schema that comes back", [{ rows: [{ exists: "t" }] }, { rows: [{ exists: "f" }] }], null],
  ["a server that refuses", [{ sqlState: "42501", message: "must be owner" }], /must be owner/],
  ["a server that is silent", ["silence"], /no answer within \d+ ms/],
];

for (const [title, answers, problem] of cases)
  test(`removes the schema, or says why not, within the deadline: ${title}`, async () => {
    let at = 0;
    const database = new FakePostgres((sql) => {
      if (sql.includes("EXISTS (")) return answers[Math.min(at, answers.length - 1)] ?? "close";
      const answer = answers[Math.min(at, answers.length - 1)] ?? "close";
      at += 1;
      if (typeof answer === "object" && "rows" in answer) at -= 1;
      return typeof answer === "object" && "rows" in answer ? { rows: [] } : answer;
    });
    if (title === "a schema that comes back") setTimeout(() => (at = 1), 100);
    await database.start();
    try {
      const outcome = await removeSchema(targetOf(database), { schema, deadlineMs: 700, goneForMs: 0 });
      if (problem === null) assert.equal(outcome, null);
      else assert.match(outcome ?? "", problem);
    } finally {
      await database.stop();
    }
  });

test("reports a server that cannot be reached", async () => {
  const database = new FakePostgres(() => "close");
  await database.start();
  const target = targetOf(database);
  await database.stop();
  assert.match((await removeSchema(target, { schema, deadlineMs: 300, goneForMs: 0 })) ?? "", /ECONNREFUSED/);
});
