import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClusterEvent, EventKind } from "../../../src/core/events/cluster-event.ts";
import {
  reloadAppliedEvent,
  reloadRefusedEvent,
  startedEvent,
  stoppedEvent,
} from "../../../src/core/events/announced-events.ts";

const service = { clusters: ["demo"], version: "1.2.3" };

function past(...kinds: readonly EventKind[]): readonly ClusterEvent[] {
  return kinds.map((kind, at) => ({ ...stoppedEvent(service), kind, id: `1.${at}`, at }));
}

suite("the events of rolecall itself", () => {
  test("say which version starts and stops to monitor which cluster", () => {
    const figures = { version: "1.2.3", clusters: 1 };
    const both = { cluster: null, node: null, severity: "info", cause: null, figures };
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

  test("are one for all clusters", () => {
    const many = { ...service, clusters: ["demo", "shop", "orders"] };
    assert.equal(startedEvent(many, []).message, "rolecall 1.2.3 started to monitor 3 clusters");
    assert.equal(
      stoppedEvent(many).message,
      "rolecall 1.2.3 stopped: 3 clusters are not monitored until it starts again",
    );
  });

  test("say which configuration runs when another one is refused, and when one is applied", () => {
    const refused = { atMs: 60_000, problems: 2, first: "rolecall.yaml:4 probe.interval: must be a duration" };
    const { cluster, severity, message, cause, figures } = reloadRefusedEvent(refused, 0);
    assert.deepEqual([cluster, severity, cause], [null, "error", refused.first]);
    assert.deepEqual(figures, { problems: 2, loaded_at: "1970-01-01T00:00:00.000Z" });
    assert.equal(
      message,
      "rolecall refused to reload its configuration, which has 2 problems, and runs that of 1970-01-01T00:00:00.000Z: " +
        refused.first,
    );
    assert.equal(reloadAppliedEvent(["demo"], null).message, "rolecall reloaded its configuration: it monitors demo");
    assert.equal(
      reloadAppliedEvent(["demo", "shop"], 72_000).message,
      "rolecall reloaded its configuration after 1 min 12 s with one that was refused: it monitors 2 clusters",
    );
  });

  test("warn of a process that ended without being stopped", () => {
    const { severity, message } = startedEvent(service, past("started", "stopped", "started", "primary_lost"));
    assert.equal(severity, "warning");
    assert.equal(message, "rolecall 1.2.3 started to monitor demo: the process before it ended without being stopped");
  });

  test("do not warn after a stop, or of a process that knew no such events", () => {
    for (const known of [past("started", "stopped", "detached"), past("primary_lost")])
      assert.equal(startedEvent(service, known).severity, "info");
  });
});
