import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { replayTimeline } from "../../src/features/replay/core/timeline.ts";
import { readIncident } from "./play.ts";

const file = join("test", "spec", "incidents", "patroni-3717-lost-conninfo.yaml");
const incident = readIncident(readFileSync(file, "utf8"), file);

test("a timeline keeps a bounded number of changes and events, and says if it left some out", () => {
  const { changes, events, isCut } = replayTimeline(incident);
  assert.equal(isCut, false);
  assert.ok(changes.length > 1 && events.length > 1, `${changes.length} changes, ${events.length} events`);
  const most = Math.max(changes.length, events.length);
  assert.equal(replayTimeline(incident, most).isCut, false, "exactly as many as there are");
  const short = replayTimeline(incident, 1);
  assert.deepEqual([short.changes, short.events], [changes.slice(0, 1), events.slice(0, 1)]);
  assert.equal(short.isCut, true);
});

const head = `format: 1
name: a test
why: a test
began: 2026-11-21T03:10:00Z
`;
const end = "end: 3m\n";
const steady = "pg1: { lock: true, position: 0/5000000 }, pg2: { position: 0/5000000 }";

function eventsOf(text: string): readonly string[] {
  const { events } = replayTimeline(readIncident(`${head}${text}${end}`, "test.yaml"));
  return events.map(
    ({ at, kind, message }) => `${(at - Date.parse("2026-11-21T03:10:00Z")) / 1_000} ${kind}: ${message}`,
  );
}

test("a member that joined later counts from its first step on, and the time line begins before it", () => {
  const text = `cluster: { scope: demo, nodes: [pg1, pg2, { name: pg3, joined: 90s }] }
steps:
  - { at: 0s, until: 120s, every: 1s, nodes: { ${steady} } }
  - { at: 90s, until: 120s, every: 1s, nodes: { pg3: { position: 0/5000000 } } }
`;
  assert.deepEqual(eventsOf(text), ["90 node_joined: pg3 joined demo"]);
  const { settledMs } = replayTimeline(readIncident(`${head}${text}${end}`, "test.yaml"));
  assert.equal(settledMs, 0);
});

test("the DCS of the file is part of the replay", () => {
  const events = eventsOf(`cluster: { scope: demo, nodes: [pg1, pg2] }
steps:
  - { at: 0s, until: 60s, every: 1s, nodes: { ${steady} } }
  - { at: 1s, dcs: { leader: pg1, source: etcd, revision: 7 } }
  - { at: 30s, dcs: { failure: timeout } }
  - { at: 50s, dcs: { leader: pg1, source: etcd, revision: 7 } }
`);
  assert.match(events.join("\n"), /^31 dcs_lost: .*\n51 dcs_restored: /);
});

test("a time in which rolecall did not run is no outage of the nodes", () => {
  const events = eventsOf(`cluster: { scope: demo, nodes: [pg1, pg2, pg3] }
steps:
  - { at: 0s, until: 60s, every: 1s, nodes: { ${steady} } }
  - { at: 0s, until: 60s, every: 1s, nodes: { pg3: { failure: refused } } }
  - { at: 100s, nodes: { pg3: { failure: refused } } }
  - { at: 100s, until: 120s, every: 1s, nodes: { ${steady} } }
  - { at: 101s, until: 120s, every: 1s, nodes: { pg3: { failure: refused } } }
`);
  assert.deepEqual(
    events.filter((event) => !/ (node_down|degraded):/.test(event)),
    [],
  );
});

test("an incident of a hung disk has its beginning and its end", () => {
  const hung = join("test", "spec", "incidents", "hung-disk.yaml");
  const { events } = replayTimeline(readIncident(readFileSync(hung, "utf8"), hung));
  assert.deepEqual(
    events.map(({ kind, node }) => `${kind} ${node}`),
    ["wedged pg1", "wedged_ended pg1"],
  );
});

test("an incident of a DCS that no node reaches has its beginning and its end", () => {
  const gone = join("test", "spec", "incidents", "dcs-unreachable.yaml");
  const { events } = replayTimeline(readIncident(readFileSync(gone, "utf8"), gone));
  assert.deepEqual(
    events.map(({ kind, severity }) => `${kind} ${severity}`),
    ["dcs_unreachable error", "primary_lost error", "dcs_reachable info", "primary_found info"],
  );
});
