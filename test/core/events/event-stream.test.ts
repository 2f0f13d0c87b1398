import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterEvent, EventDraft } from "../../../src/core/events/cluster-event.ts";
import { EventStream } from "../../../src/core/events/event-stream.ts";

interface Fixture {
  readonly stream: EventStream;
  readonly clock: { nowMs: number };
  readonly omitted: string[];
  readonly restored: string[];
}

function fixtureOf(): Fixture {
  const clock = { nowMs: 0 };
  const [omitted, restored]: [string[], string[]] = [[], []];
  const stream = new EventStream(1_795_242_555_000.5, {
    clock: { now: () => clock.nowMs, wall: () => 1_795_242_555_000 + clock.nowMs },
    onOmitted: ({ cluster, kind }) => void omitted.push(`${cluster} ${kind}`),
    onRestored: (events) => void restored.push(...events.map(({ id }) => id)),
  });
  return { stream, clock, omitted, restored };
}

function draftOf(parts: Partial<EventDraft> = {}): EventDraft {
  return {
    kind: "node_down",
    severity: "warning",
    cluster: "demo",
    node: "pg1",
    message: "pg1 of demo is down",
    cause: null,
    figures: {},
    ...parts,
  };
}

test("gives events rising ids and the wall-clock time, and passes each to every listener once", () => {
  const { stream, clock } = fixtureOf();
  const heard: string[] = [];
  const unsubscribe = stream.subscribe(({ id }) => void heard.push(`first ${id}`));
  stream.subscribe(({ id }) => void heard.push(`second ${id}`));
  clock.nowMs = 7;
  const first = stream.publish(draftOf());
  unsubscribe();
  stream.publish(draftOf());
  assert.deepEqual([first?.id, first?.at], ["1795242555000.1", 1_795_242_555_007]);
  assert.deepEqual(heard, ["first 1795242555000.1", "second 1795242555000.1", "second 1795242555000.2"]);
  assert.deepEqual(
    stream.recent().map(({ id }) => id),
    ["1795242555000.1", "1795242555000.2"],
  );
});

test("restores older events in front of those that it has, without passing them on", () => {
  const { stream, restored } = fixtureOf();
  const heard: ClusterEvent[] = [];
  stream.subscribe((event) => void heard.push(event));
  stream.publish(draftOf());
  stream.restore([1, 2].map((at) => ({ ...draftOf(), id: `1.${at}`, at })));
  assert.deepEqual(
    stream.recent().map(({ id }) => id),
    ["1.1", "1.2", "1795242555000.1"],
  );
  assert.deepEqual([heard.length, restored], [1, ["1.1", "1.2"]]);
});

test("keeps a bounded number of events, the newest", () => {
  const { stream, clock } = fixtureOf();
  for (let at = 1; at <= 12_000; at += 1) {
    clock.nowMs = at * 10_000;
    stream.publish(draftOf());
  }
  const kept = stream.recent();
  assert.deepEqual([kept.length, kept.at(-1)?.id], [5_000, "1795242555000.12000"]);
  stream.restore(Array.from({ length: 9_000 }, (_, at) => ({ ...draftOf(), id: `1.${at}`, at })));
  assert.equal(stream.recent().length, 5_000);
});

test("leaves out what happens too often, says so once, and counts it in the next event of the kind", () => {
  const { stream, clock, omitted } = fixtureOf();
  const published = (): number => stream.recent().length;
  for (let at = 0; at < 30; at += 1) stream.publish(draftOf());
  assert.deepEqual([published(), omitted], [20, ["demo node_down"]]);
  assert.ok(stream.publish(draftOf({ kind: "primary_lost" })), "another kind has room of its own");
  assert.ok(stream.publish(draftOf({ cluster: "other" })), "and so has another cluster");
  clock.nowMs = 6_000;
  assert.deepEqual(stream.publish(draftOf({ figures: { failures: 3 } }))?.figures, { failures: 3, omitted: 10 });
  assert.equal(stream.publish(draftOf()), null);
  assert.deepEqual(omitted, ["demo node_down", "demo node_down"]);
});
