import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClusterEvent, EventKind } from "../../src/events/cluster-event.ts";
import { startedEvent, stoppedEvent } from "../../src/events/announced-events.ts";

const service = { cluster: "demo", version: "1.2.3" };

function past(...kinds: readonly EventKind[]): readonly ClusterEvent[] {
  return kinds.map((kind, at) => ({ ...stoppedEvent(service), kind, id: `1.${at}`, at }));
}

suite("the events of rolecall itself", () => {
  test("say which version starts and stops to monitor which cluster", () => {
    const figures = { version: "1.2.3" };
    const both = { cluster: "demo", node: null, severity: "info", cause: null, figures };
    assert.deepEqual(startedEvent(service, []), {
      ...both,
      kind: "started",
      message: "rolecall 1.2.3 started to monitor demo",
    });
    assert.deepEqual(stoppedEvent(service), {
      ...both,
      kind: "stopped",
      message: "rolecall 1.2.3 stopped: demo is not monitored until it starts again",
    });
  });

  test("warn of a process that ended without being stopped", () => {
    const { severity, message } = startedEvent(service, past("started", "stopped", "started", "primary_lost"));
    assert.equal(severity, "warning");
    assert.equal(message, "rolecall 1.2.3 started to monitor demo: the process before it ended without being stopped");
  });

  test("do not warn after a stop, of another cluster, or of a process that knew no such events", () => {
    const stopped = past("started", "stopped", "detached");
    const other = past("started").map((event) => ({ ...event, cluster: "shop" }));
    for (const known of [stopped, other, past("primary_lost")])
      assert.equal(startedEvent(service, known).severity, "info");
  });
});
