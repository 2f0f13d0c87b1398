import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { ListenerGroup } from "../../src/app/listener-group.ts";
import type { ListenerConfig } from "../../src/core/config/model/config.ts";
import { ListenError } from "../../src/core/http/listener/listen-error.ts";
import { errorReply } from "../../src/core/http/message/reply.ts";
import { listenerOf } from "../fake/config.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { silentLogger } from "../fake/silent-logger.ts";

const health = listenerOf({ cluster: "demo" });
const admin = listenerOf({ dialect: "admin" });

function groupOf(context: TestContext, workers: number = 0): ListenerGroup {
  const group = new ListenerGroup({
    log: silentLogger,
    workers: () => workers,
    inherited: [],
    handlerFor:
      ({ dialect }) =>
      async () =>
        errorReply(418, dialect, { message: dialect }),
    dialects: { alpnOf: () => undefined, handlerFor: () => () => {} },
    eventsOf: () => ({ onError: () => {}, onFiles: () => {}, onRejected: () => {} }),
    fullState: () => assert.fail("there is no worker"),
    onContained: () => {},
  });
  context.after(() => group.close());
  return group;
}

function dialects(group: ListenerGroup): readonly string[] {
  return group.listeners.map(({ config }) => config.dialect);
}

test("opens admin listeners first, and lists all in the order of the configuration", async (context) => {
  const group = groupOf(context);
  const configs: readonly ListenerConfig[] = [health, admin];
  await group.openAdmin(configs);
  assert.deepEqual(dialects(group), ["admin"]);
  await (await group.prepare(configs)).commit(() => {});
  assert.deepEqual(dialects(group), ["node", "admin"]);
  for (const { config, port } of group.listeners) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.match(await response.text(), new RegExp(config.dialect));
  }
});

test("changes nothing if a listener cannot be opened", async (context) => {
  const group = groupOf(context);
  await group.openAdmin([health, admin]);
  await (await group.prepare([health, admin])).commit(() => {});
  const takenPort = await listenDuringTest(context, createServer());
  const before = group.listeners;
  await assert.rejects(group.prepare([listenerOf({ port: takenPort })]), ListenError);
  assert.deepEqual(group.listeners, before);
});

test("has no answers and no usage of workers without workers", (context) => {
  const group = groupOf(context);
  assert.deepEqual([group.answers(), group.usage()], [[], null]);
});

test("refuses to open anything once it is closed, also what is being prepared then", async (context) => {
  const group = groupOf(context);
  await group.openAdmin([health, admin]);
  const preparing = group.prepare([health, admin]);
  await group.close();
  await assert.rejects(preparing, /the process must not be stopping/);
  await assert.rejects(group.prepare([health]), /the process must not be stopping/);
  assert.deepEqual(group.listeners, []);
});

test("starts no worker after it was closed", async (context) => {
  const group = groupOf(context, 1);
  const before = childrenHere();
  const resized = group.resize();
  await group.close();
  await resized;
  assert.deepEqual(childrenHere(), before);
});

/** The processes that this one has started, and that have not ended. */
function childrenHere(): readonly string[] {
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ");
}
