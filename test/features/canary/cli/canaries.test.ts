/** `rolecall canaries` with answers of servers. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { runJson, runText } from "../../../fake/command-line.ts";
import { listenDuringTest } from "../../../fake/listen.ts";

const passing = {
  pool: "orders-write",
  target: "lb:5000/app",
  kind: "write",
  state: "committed",
  node: "pg2",
  error: null,
  text: "tried 3.0 s ago through orders-write: committed on pg2 in 4 ms",
  action: null,
};
const failing = {
  ...passing,
  state: "failed",
  node: null,
  error: { code: "53300", message: "too many clients already" },
  text: "tried 1.0 s ago through orders-write: 53300 too many clients already, for 40.0 s",
  action: "Find what holds the connections",
};
const astray = { ...failing, error: { code: "other_database", message: "reached another database" } };
const pending = { ...passing, state: "pending", node: null, text: "not tried yet through orders-write" };

/** A server whose `/status` has one cluster with these canaries. */
async function serverWith(context: TestContext, canaries: readonly object[] | undefined): Promise<string> {
  const cluster = { cluster: "orders", nodes: [], situation: { condition: "ok" }, ...(canaries && { canaries }) };
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ clusters: [cluster], config: null }));
  });
  return `http://127.0.0.1:${await listenDuringTest(context, server)}`;
}

const rows: readonly (readonly [
  given: string,
  canaries: readonly object[] | undefined,
  code: number,
  rules: readonly string[],
])[] = [
  ["one that passes", [passing], 0, []],
  ["none", undefined, 0, []],
  ["one that fails", [passing, failing], 1, ["RC230"]],
  ["a read that fails", [{ ...failing, kind: "read" }], 1, ["RC231"]],
  ["one that reaches another database", [astray], 1, ["RC232"]],
  ["one that was not tried yet", [passing, pending], 2, ["RC003"]],
];

for (const [given, canaries, code, rules] of rows)
  test(`exits with ${code}: ${given}`, async (context) => {
    const server = await serverWith(context, canaries);
    const document = await runJson(["canaries", "--server", server]);
    assert.equal(document.exit_code, code);
    assert.deepEqual(
      document.diagnostics.map(({ rule_id: id }) => id),
      rules,
    );
    const { out } = await runText(["canaries", "--server", server]);
    for (const { text } of (canaries ?? []) as (typeof passing)[]) assert.ok(out.includes(text), out);
    if (canaries === undefined) assert.match(out, /^no canaries are configured/);
  });

test("status and explain show what canaries tried", async (context) => {
  const server = await serverWith(context, [failing, passing]);
  const status = await runText(["status", "--server", server]);
  assert.match(
    status.out,
    /canary: tried 1\.0 s ago through orders-write: 53300 too many clients already, for 40\.0 s/,
  );
  const explained = await runText(["explain", "--server", server]);
  assert.match(explained.out, /canary: +tried 3\.0 s ago through orders-write: committed on pg2 in 4 ms/);
});
