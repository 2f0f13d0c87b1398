import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Readable } from "node:stream";
import { eventKinds } from "../../../../src/app/registry/event-kinds.ts";
import { run } from "../../../../src/cli/run.ts";
import type { ClusterEvent } from "../../../../src/core/events/cluster-event.ts";
import { isEventWanted } from "../../../../src/core/events/event-filter.ts";
import { parseEventQuery } from "../../../../src/core/http/diagnostics/event-query.ts";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { runText } from "../../../fake/command-line.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { until } from "../../../fake/until.ts";

/** How far the clock of the server is behind that of the client, in ms. */
const behindMs = 120_000;

test("--follow prints each new event once, though the clock of the server is behind and set back", async (context) => {
  const events: ClusterEvent[] = [];
  const add = (kind: ClusterEvent["kind"], atMs: number): void => {
    const rest = { severity: "info", cluster: "demo", node: null, cause: null, figures: {} } as const;
    events.push({ id: `1.${events.length + 1}`, at: atMs, kind, message: `the event ${kind}`, ...rest });
  };
  let [serverBehindMs, requests] = [behindMs, 0];
  const server = createServer(({ url = "" }, response) => {
    requests += 1;
    const query = parseEventQuery(
      new URL(url, "http://localhost").searchParams,
      eventKinds,
      Date.now() - serverBehindMs,
    );
    assert.ok("limit" in query, url);
    const wanted = events.filter((event) => isEventWanted(event, query)).slice(-query.limit);
    const page = { oldest: null, more: false, events: wanted.map((row) => ({ ...row, at: new Date(row.at) })) };
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(page));
  });
  const port = await listenDuringTest(context, server);
  const ended = new AbortController();
  let out = "";
  const sink = {
    isTerminal: false,
    columns: () => 100,
    rows: () => 40,
    onResize: () => () => {},
    write: async (text: string) => void (out += text),
  };
  const idle = (): AbortSignal => new AbortController().signal;
  const io = { stdout: sink, stderr: sink, stdin: Object.assign(Readable.from([""]), { isTTY: false }) };
  add("paused", Date.now() - behindMs);
  const command = run(
    ["history", "--follow", "--severity", "info", "--since", "10s", "--server", `http://127.0.0.1:${port}`],
    { ...io, env: {}, stdoutClosed: idle() },
    { ended: ended.signal, crashed: idle() },
  );
  await until("the first answers", async () => requests >= 2);
  add("resumed", Date.now() - behindMs);
  await until("the event of a clock that is behind", async () => out.includes("the event resumed"));
  serverBehindMs += 60_000;
  add("blind", Date.now() - serverBehindMs);
  await until("the event after the clock was set back", async () => out.includes("the event blind"));
  ended.abort("SIGINT");
  await command;
  assert.deepEqual(out.match(/the event \w+/g), ["the event resumed", "the event blind"]);
});

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
