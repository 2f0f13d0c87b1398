import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { ListenerGroup } from "../../src/app/listener-group.ts";
import type { ListenerConfig } from "../../src/config/model/config.ts";
import { ListenError } from "../../src/http/listener/listen-error.ts";
import { errorReply } from "../../src/http/message/reply.ts";
import { listenerOf } from "../fake/config.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { silentLogger } from "../fake/silent-logger.ts";

const health = listenerOf({ cluster: "demo" });
const admin = listenerOf({ dialect: "admin" });

function groupOf(context: TestContext): ListenerGroup {
  const group = new ListenerGroup({
    log: silentLogger,
    workers: 0,
    inherited: [],
    handlerFor:
      ({ dialect }) =>
      async () =>
        errorReply(418, dialect, { message: dialect }),
    lineHandlerFor: () => () => "",
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
  await group.open(configs);
  assert.deepEqual(dialects(group), ["node", "admin"]);
  for (const { config, port } of group.listeners) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.match(await response.text(), new RegExp(config.dialect));
  }
});

test("changes nothing if a listener cannot be opened, and does not commit", async (context) => {
  const group = groupOf(context);
  await group.openAdmin([health, admin]);
  await group.open([health, admin]);
  const takenPort = await listenDuringTest(context, createServer());
  const before = group.listeners;
  let isCommitted = false;
  const opening = group.open([listenerOf({ port: takenPort })], () => {
    isCommitted = true;
  });
  await assert.rejects(opening, ListenError);
  assert.equal(isCommitted, false);
  assert.deepEqual(group.listeners, before);
});

test("has no answers and no usage of workers without workers", (context) => {
  const group = groupOf(context);
  assert.deepEqual([group.answers(), group.usage()], [[], null]);
});
