/** How APIs of features are loaded, and what answers then. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiHandler, apiRest } from "../../../src/app/handlers/feature-api.ts";
import type { ListenerApi } from "../../../src/core/feature/listener-api.ts";
import type { IncomingCall } from "../../../src/core/http/message/incoming-call.ts";
import { emptyReply, type Reply } from "../../../src/core/http/message/reply.ts";
import type { Request } from "../../../src/core/http/message/request.ts";
import { configOf, listenerOf } from "../../fake/config.ts";

const listener = listenerOf({ dialect: "exporter" });
const inConfig = { listener, config: configOf({ clusters: [], listen: [listener] }) };
const unused = {} as never;

function callOf(target: string): IncomingCall {
  return { request: { method: "GET", target } } as unknown as IncomingCall;
}

function replyOf(code: 200 | 503): Reply {
  return emptyReply({ code, phrase: "" });
}

/** An API that answers `/up` from memory, and fails to load as often as it is told. */
function fixture(failures: number): { readonly api: ListenerApi; readonly loads: () => number } {
  let loads = 0;
  const load = async <Answers>(answers: Answers): Promise<Answers> => {
    loads += 1;
    if (loads <= failures) throw new Error("broken");
    return answers;
  };
  const api: ListenerApi = {
    dialect: "exporter",
    changesState: ({ target }) => target === "/reload",
    pageOf: () => null,
    loadMemory: () =>
      load(
        () =>
          ({ target }: Request) =>
            target === "/up" ? replyOf(200) : null,
      ),
    loadRest: () => load(() => async () => replyOf(503)),
  };
  return { api, loads: () => loads };
}

test("an API is loaded once for its listener, and answers from memory before all else", async () => {
  const { api, loads } = fixture(0);
  const asked: string[] = [];
  const handler = apiHandler(api, inConfig, {
    sources: unused,
    rest: async ({ request }) => {
      asked.push(request.target);
      return replyOf(503);
    },
  });
  assert.equal(loads(), 1);
  assert.deepEqual((await handler(callOf("/up")))?.status, 200);
  assert.deepEqual((await handler(callOf("/version")))?.status, 503);
  assert.deepEqual([asked, loads()], [["/version"], 1]);
  assert.deepEqual(
    ["/reload", "/up"].map((target) => handler.changesState?.(callOf(target).request)),
    [true, false],
  );
});

test("one that cannot be loaded fails the requests, and is loaded again with the next", async () => {
  const { api, loads } = fixture(2);
  const handler = apiHandler(api, inConfig, { sources: unused, rest: async () => null });
  await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(handler(callOf("/up")), /broken/);
  assert.equal((await handler(callOf("/up")))?.status, 200);
  assert.equal(loads(), 3);
});

test("what the main process answers beside it is loaded with the first such request, and again after a failure", async () => {
  const { api, loads } = fixture(1);
  const rest = apiRest(api, inConfig, { sources: unused, context: unused });
  assert.equal(loads(), 0);
  await assert.rejects(rest(callOf("/version")), /broken/);
  assert.equal((await rest(callOf("/version")))?.status, 503);
  assert.equal((await rest(callOf("/version")))?.status, 503);
  assert.equal(loads(), 2);
});
