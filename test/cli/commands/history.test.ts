import assert from "node:assert/strict";
import { test } from "node:test";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";

test("history has one line for each event in a pipe or file, and wraps on a terminal", async () => {
  const message = `pg2 is the new primary of demo ${"after a long time ".repeat(20)}end`;
  const event = { id: "a.1", at: "2026-01-31T12:00:00Z", kind: "primary_found", severity: "info", cluster: "demo" };
  const server = await serveCannedAnswers({
    "/events?limit=100": { body: { oldest: null, more: false, events: [{ ...event, node: "pg2", message }] } },
  });
  try {
    const { out } = await runText(["history", "--server", server.url]);
    assert.equal(out.trimEnd().split("\n").length, 2, out);
    assert.ok(out.includes(message));
    const shown = await runText(["history", "--color", "never", "--server", server.url], { isTerminal: true });
    assert.ok(shown.out.split("\n").every((line) => line.length <= 100));
  } finally {
    await server.close();
  }
});
