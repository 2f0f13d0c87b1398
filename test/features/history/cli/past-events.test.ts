import assert from "node:assert/strict";
import { test } from "node:test";
import { runJson } from "../../../fake/command-line.ts";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { eventAt, historyConfig, openHistory, temporaryDirectory } from "../store/history-fixture.ts";

test("history has the same fields from a server and from a directory", async (context) => {
  const directory = temporaryDirectory(context);
  const { store, clock } = await openHistory(context, historyConfig(directory));
  const event = eventAt(clock.wallMs, "1.1", { cause: "pg1 refuses connections", figures: { without_primary_ms: 7 } });
  store.addEvent(event);
  await store.stop();
  const row = { ...event, at: new Date(event.at).toISOString() };
  const server = await serveCannedAnswers({
    "/events?limit=100": { body: { oldest: row.at, more: false, events: [row] } },
  });
  context.after(() => server.close());
  const eventsOf = async (...source: readonly string[]): Promise<unknown> =>
    ((await runJson(["history", ...source])).data as { events: unknown }).events;
  assert.deepEqual(await eventsOf("--directory", directory), [row]);
  assert.deepEqual(await eventsOf("--server", server.url), [row]);
});
