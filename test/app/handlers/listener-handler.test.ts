import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { answerSourcesOf } from "../../../src/app/handlers/answer-sources.ts";
import { buildListenerHandler, type Backend } from "../../../src/app/handlers/listener-handler.ts";
import type { ListenerConfig } from "../../../src/core/config/model/config.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { AnswerCounter } from "../../../src/core/http/message/answer-counter.ts";
import type { ListenerHandler } from "../../../src/core/http/message/handler.ts";
import type { IncomingCall } from "../../../src/core/http/message/incoming-call.ts";
import { errorReply, type Reply } from "../../../src/core/http/message/reply.ts";
import type { Request } from "../../../src/core/http/message/request.ts";
import { Clock } from "../../../src/core/state/clock.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import type { Phase } from "../../../src/core/workers/messages.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { reportOf } from "../../fake/node-documents.ts";

interface Fixture {
  readonly store: Store;
  readonly counter: AnswerCounter;
  /** The used parts of the backend. */
  readonly used: string[];
  /** The status of an answer. */
  readonly answer: (target: string) => Promise<number | undefined>;
  readonly handler: ListenerHandler;
  phase: Phase;
}

function requestOf(target: string): Request {
  return { method: "GET", target, host: undefined, nodeHeader: undefined, serverState: undefined };
}

function callOf(target: string): IncomingCall {
  const message = new IncomingMessage(new Socket());
  return {
    message,
    response: new ServerResponse(message),
    request: requestOf(target),
    caller: { address: "127.0.0.1", principal: null, consumesAuthorization: false },
    limits: unrestrictedAccess.limits,
    onError: (error) => assert.ifError(error),
  };
}

function fixtureOf(listener: ListenerConfig): Fixture {
  const nodes = [nodeOf({ name: "pg1", api: "http://pg1:8008" })];
  const config = configOf({ clusters: [clusterOf({ nodes })], listen: [listener] });
  const store = new Store("run", buildClusters(config, new Map()));
  const clock = new Clock({ tickIntervalMs: 60_000, onGap: () => {} });
  const counter = new AnswerCounter();
  const used: string[] = [];
  const use = async (part: string): Promise<Reply> => {
    used.push(part);
    return errorReply(418, "used", { message: part });
  };
  const backend: Backend = {
    passthrough: { manage: async () => void (await use("manage")), fetch: async () => void (await use("fetch")) },
    admin: () => use("admin"),
    diagnostics: () => use("diagnostics"),
    rest: () => use("rest"),
  };
  const phase: { current: Phase } = { current: "serving" };
  const sources = answerSourcesOf({
    store: () => store,
    clock: () => clock,
    phase: () => phase.current,
    counter,
    portOf: ({ port }) => port,
    lateness: () => ({ isLate: false, isWithdrawn: false }),
  });
  const handler = buildListenerHandler({ listener, config }, sources, backend);
  return {
    store,
    counter,
    used,
    handler,
    answer: async (target) => (await handler(callOf(target)))?.status,
    get phase(): Phase {
      return phase.current;
    },
    set phase(next: Phase) {
      phase.current = next;
    },
  };
}

/** Records that pg1 is the primary now. */
function lead(store: Store): void {
  const nowMs = performance.now();
  const report = reportOf("pg1", { role: "primary" });
  const result = { report, hasLock: true };
  store.record({ kind: "status", cluster: "demo", node: "pg1", sentAtMs: nowMs, sentAtWallMs: nowMs, result }, nowMs);
}

test("answers and counts checks on a node listener from the snapshot", async () => {
  const { store, answer, counter, used } = fixtureOf(listenerOf({ cluster: "demo", node: "pg1" }));
  assert.equal(await answer("/primary"), 503);
  lead(store);
  assert.equal(await answer("/primary"), 200);
  assert.deepEqual(
    [...counter.rows()],
    [
      { route: "primary", status: 503, count: 1 },
      { route: "primary", status: 200, count: 1 },
    ],
  );
  assert.deepEqual(used, []);
});

test("is ready only while it serves and has fresh evidence", async () => {
  const fixture = fixtureOf(listenerOf({ cluster: "demo", node: "pg1" }));
  assert.equal(await fixture.answer("/readyz"), 503, "blind");
  lead(fixture.store);
  assert.equal(await fixture.answer("/readyz"), 200);
  fixture.phase = "draining";
  assert.equal(await fixture.answer("/readyz"), 503);
  assert.equal(await fixture.answer("/livez"), 200);
});

test("answers role paths on an exporter listener itself, and passes pages and the rest to the backend", async () => {
  const { answer, handler, used } = fixtureOf(listenerOf({ dialect: "exporter", cluster: "demo", node: "pg1" }));
  assert.equal(await answer("/up"), 503);
  assert.deepEqual(used, []);
  for (const target of ["/metrics", "/stat", "/explain", "/version"]) assert.equal(await answer(target), 418, target);
  assert.deepEqual(used, ["rest", "rest", "rest", "rest"]);
  assert.deepEqual(
    ["/reload", "/up"].map((target) => handler.changesState?.(requestOf(target))),
    [true, false],
  );
});

test("passes every request of an admin listener to the backend", async () => {
  const { answer, used } = fixtureOf(listenerOf({ dialect: "admin" }));
  for (const target of ["/metrics", "/primary"]) assert.equal(await answer(target), 418);
  assert.deepEqual(used, ["admin", "admin"]);
});
