import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventKinds } from "../../../../src/app/registry/event-kinds.ts";
import type { ClusterEvent } from "../../../../src/core/events/cluster-event.ts";
import { isEventWanted } from "../../../../src/core/events/event-filter.ts";
import { parseEventQuery, type EventQuery } from "../../../../src/core/http/diagnostics/event-query.ts";

const nowWallMs = Date.parse("2026-11-21T03:12:00Z");

function parsed(query: string): EventQuery {
  const read = parseEventQuery(new URLSearchParams(query), eventKinds, nowWallMs);
  assert.ok(!("subject" in read), JSON.stringify(read));
  return read;
}

const event: ClusterEvent = {
  id: "1.1",
  at: Date.parse("2026-11-21T03:00:00Z"),
  severity: "warning",
  kind: "node_down",
  cluster: "demo",
  node: "pg1",
  message: "pg1 of demo is down",
  cause: null,
  figures: {},
};

const wanted: readonly (readonly [query: string, isWanted: boolean])[] = [
  ["", true],
  ["cluster=demo&node=pg1&kind=node_down", true],
  ["cluster=other", false],
  ["node=pg2", false],
  ["kind=primary_lost", false],
  ["kind=primary_lost,node_down", true],
  ["severity=info", true],
  ["severity=warning", true],
  ["severity=error", false],
  ["since=2026-11-21T03:00:00Z&until=2026-11-21T03:00:00Z", true],
  ["since=2026-11-21T04:00:00.001%2B01:00", false],
  ["until=2026-11-21T02:59:59.999Z", false],
  ["since=12min", true],
  ["since=719s", false],
  ["until=13min", false],
];

describe("a query of events", () => {
  for (const [query, isWanted] of wanted)
    test(`${query === "" ? "without parameters" : query} ${isWanted ? "selects" : "leaves out"} the event`, () => {
      assert.equal(isEventWanted(event, parsed(query)), isWanted);
    });

  test("has a limit, 100 by default", () => {
    assert.deepEqual([parsed("").limit, parsed("limit=1").limit, parsed("limit=1000").limit], [100, 1, 1_000]);
  });

  const instants = "an instant such as 2026-11-21T03:12:00Z, or a duration before now such as 15min";
  const refused: readonly (readonly [query: string, subject: string, value: string, allowed: string])[] = [
    ["kind=node_dwn", "parameter kind", "node_dwn", `one or more of ${eventKinds.join(", ")}`],
    ["kind=", "parameter kind", "", `one or more of ${eventKinds.join(", ")}`],
    ["severity=fatal", "parameter severity", "fatal", "one of info, warning, error"],
    ["since=yesterday", "parameter since", "yesterday", instants],
    ["since=2026-11-21T03:12:00", "parameter since", "2026-11-21T03:12:00", instants],
    ["until=-5min", "parameter until", "-5min", instants],
    ["since=1min&until=2min", "parameter until", "2min", "not before since=1min"],
    ["limit=0", "parameter limit", "0", "a number from 1 to 1000"],
    ["limit=1001", "parameter limit", "1001", "a number from 1 to 1000"],
    ["limit=1e2", "parameter limit", "1e2", "a number from 1 to 1000"],
    ["clutser=demo", "query", "clutser", "one of the parameters cluster, node, kind, severity, since, until, limit"],
  ];
  for (const [query, subject, value, allowed] of refused)
    test(`${query} is refused`, () => {
      assert.deepEqual(parseEventQuery(new URLSearchParams(query), eventKinds, nowWallMs), { subject, value, allowed });
    });
});
