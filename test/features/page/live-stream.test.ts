import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { ClusterEvent } from "../../../src/core/events/cluster-event.ts";
import { ClusterRenderings } from "../../../src/features/page/cluster-renderings.ts";
import { LiveStream, type LiveSubscription } from "../../../src/features/page/live-stream.ts";
import { storeFixture, type StoreFixture } from "../../fake/store-fixture.ts";

interface Fixture {
  readonly cluster: StoreFixture;
  readonly renderings: ClusterRenderings;
  readonly stream: LiveStream;
  readonly response: { writableNeedDrain: boolean; destroyed: boolean; writableEnded: boolean };
  /** Takes the messages that were written: `name data`. */
  readonly taken: () => readonly string[];
  readonly flush: (events?: readonly ClusterEvent[]) => void;
}

function openStream(subscription: Partial<LiveSubscription> = {}, newestEventId: string | null = null): Fixture {
  const cluster = storeFixture();
  cluster.recordReport("pg1", 1_000);
  cluster.recordReport("pg2", 1_000);
  const written: string[] = [];
  const response = {
    writableNeedDrain: false,
    destroyed: false,
    writableEnded: false,
    write: (text: string) => written.push(text),
    end: () => (response.writableEnded = true),
    destroy: () => (response.destroyed = true),
  };
  const { store } = cluster;
  const renderings = new ClusterRenderings({
    snapshot: () => store.current,
    policy: (name) => store.policyOf(name),
    now: () => cluster.nowMs,
    openEvents: () => 0,
    asked: () => [],
    brought: () => ({ found: [], seen: [] }),
    askedNodes: () => ({
      nodes: new Map([["pg3", { asked_ms_ago: null, unasked: true }]]),
      nonMembers: [{ node: "pg9", asked_ms_ago: 40 }],
    }),
    wall: () => 0,
  });
  const stream = new LiveStream(
    response as unknown as ServerResponse,
    { clusters: new Set(["demo"]), boundTo: null, only: null, lastEventId: null, ...subscription },
    { nowMs: cluster.nowMs, newestEventId },
  );
  return {
    cluster,
    renderings,
    stream,
    response,
    taken: () => written.splice(0).map((text) => text.replace(/^event: (\w+)\n(id: .*\n)?data: (.*)\n\n$/, "$1 $3")),
    flush: (events = []) => stream.flush(renderings, () => events, cluster.nowMs),
  };
}

function eventOf(id: string, cluster = "demo"): ClusterEvent {
  return { id, at: 0, kind: "paused", severity: "info", cluster, node: null, message: "m", cause: null, figures: {} };
}

test("sends every cluster as a row first, then that it is ready", () => {
  const { flush, taken } = openStream();
  flush();
  const [rows = "", ready] = taken();
  const { rows: sent, ages } = JSON.parse(rows.replace("rows ", ""));
  assert.deepEqual([sent[0].cluster, sent[0].primary, sent[0].replicas, sent[0].replicas_fit], ["demo", "pg1", 2, 1]);
  assert.deepEqual(sent[0].problems, [{ node: "pg3", reason: "unknown", detail: null }]);
  assert.deepEqual(ages, { demo: 0 });
  assert.equal(ready, "ready {}");
});

test("a change of age alone sends the age, not the row", () => {
  const { flush, taken, cluster, stream } = openStream();
  flush();
  taken();
  cluster.nowMs += 700;
  stream.clusterChanged("demo", "age");
  flush();
  assert.deepEqual(taken(), ['rows {"rows":[],"ages":{"demo":700}}']);
});

/** Renders every cluster alike, again and again. */
const rendering = { row: "{}", version: 1, ageMs: 0, full: "{}" };
const constant = { of: () => rendering };

function sentIn(messages: readonly string[]): readonly string[] {
  return messages
    .filter((message) => message.startsWith("rows"))
    .flatMap((message) => Object.keys(JSON.parse(message.replace("rows ", "")).ages));
}

test("is ready once every cluster was sent, although clusters change all the time", () => {
  const clusters = Array.from({ length: 25 }, (_, at) => `c${at}`);
  const { stream, taken } = openStream({ clusters: new Set(clusters) });
  const messages: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    stream.flush(constant, () => [], 0);
    messages.push(...taken());
    for (const cluster of clusters) stream.clusterChanged(cluster, "change");
  }
  assert.deepEqual(sentIn(messages).slice(0, clusters.length), clusters);
  assert.equal(messages.at(-1), "ready {}");
});

test("a cluster with an event is sent before one that changed, and that before one whose evidence only aged", () => {
  const clusters = Array.from({ length: 10 }, (_, at) => `c${at}`);
  const { stream, taken } = openStream({ clusters: new Set([...clusters, "changed", "named"]) });
  for (let round = 0; round < 2; round += 1) stream.flush(constant, () => [], 0);
  taken();
  stream.allChanged();
  stream.clusterChanged("changed", "change");
  stream.eventPublished("named");
  stream.flush(constant, () => [], 0);
  assert.deepEqual(sentIn(taken()), ["named", "changed", ...clusters.slice(0, 8)]);
  stream.flush(constant, () => [], 0);
  assert.deepEqual(sentIn(taken()), clusters.slice(8), "each is sent once");
});

test("a client that does not read gets the newest state when it reads again, not every one", () => {
  const { flush, taken, cluster, stream, response } = openStream();
  response.writableNeedDrain = true;
  flush();
  taken();
  for (const position of [2_000, 3_000, 4_000]) {
    cluster.nowMs += 100;
    cluster.recordReport("pg1", position);
    stream.clusterChanged("demo", "change");
    assert.equal(stream.isPending, false, "nothing is sent or queued meanwhile");
    stream.beat("{}");
  }
  assert.deepEqual(taken(), []);
  cluster.recordReport("pg2", 1_000);
  response.writableNeedDrain = false;
  stream.drained();
  assert.equal(stream.isPending, true);
  flush();
  const [message = "", ...others] = taken();
  assert.deepEqual(others, []);
  assert.equal(JSON.parse(message.replace("rows ", "")).rows[0].lag_bytes, 3_000);
});

test("a client that reads nothing for 30 s is disconnected, and any after an hour", () => {
  const { flush, stream, response, cluster } = openStream();
  flush();
  assert.equal(stream.mustEnd(cluster.nowMs + 3_600_000), false);
  assert.equal(stream.mustEnd(cluster.nowMs + 3_600_001), true);
  response.writableNeedDrain = true;
  flush();
  assert.equal(stream.mustEnd(cluster.nowMs + 30_000), false);
  assert.equal(stream.mustEnd(cluster.nowMs + 30_001), true);
  stream.end("expired");
  assert.equal(response.destroyed, true);
});

for (const { title, lastEventId, events, sent } of [
  { title: "replays what came after the last event", lastEventId: "7.1", events: ["7.1", "7.2", "7.3"], sent: 2 },
  { title: "replays nothing to a client that has all", lastEventId: "7.3", events: ["7.1", "7.3"], sent: 0 },
  { title: "says that events are missing for an id of another run", lastEventId: "6.9", events: ["7.1"], sent: -1 },
  { title: "says so too if no event is known", lastEventId: "6.9", events: [], sent: -1 },
  {
    title: "says so too if more were missed than it replays",
    lastEventId: "7.0",
    events: Array.from({ length: 502 }, (_, at) => `7.${at}`),
    sent: -1,
  },
]) {
  test(title, () => {
    const { flush, taken } = openStream({ lastEventId });
    flush(events.map((id) => eventOf(id)));
    const names = taken().map((text) => text.split(" ")[0]);
    assert.equal(names.filter((name) => name === "event").length, Math.max(0, sent));
    assert.equal(names.includes("reset"), sent < 0);
  });
}

test("a new client gets new events alone, and only of the cluster that it follows", () => {
  const { flush, taken, stream } = openStream({ only: "demo" }, "7.1");
  flush([eventOf("7.1")]);
  assert.deepEqual(
    taken().map((text) => text.split(" ")[0]),
    ["cluster", "ready"],
  );
  stream.eventPublished("demo");
  flush([eventOf("7.1"), eventOf("7.2", "other"), eventOf("7.3")]);
  assert.deepEqual(
    taken().map((text) => JSON.parse(text.replace("event ", "")).id),
    ["7.3"],
  );
});

test("a cluster in full says for which nodes balancers ask; its row stays as it is", () => {
  const { renderings } = openStream();
  const { full = "", row = "" } = renderings.of("demo") ?? {};
  const { nodes, asked_non_members: nonMembers } = JSON.parse(full);
  assert.deepEqual(
    nodes.map(({ node, unasked }: { readonly node: string; readonly unasked?: boolean }) => [node, unasked]),
    [
      ["pg1", undefined],
      ["pg2", undefined],
      ["pg3", true],
    ],
  );
  assert.deepEqual(nonMembers, [{ node: "pg9", asked_ms_ago: 40 }]);
  assert.doesNotMatch(row, /asked/);
});

test("forgets a cluster that is no longer monitored", () => {
  const { renderings, cluster } = openStream();
  assert.notEqual(renderings.of("demo"), null);
  cluster.store.replace([]);
  assert.equal(renderings.of("demo"), null);
});
