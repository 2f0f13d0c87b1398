import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { buildWorkerBackend } from "../../../src/app/worker/worker-server.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { exporterApi } from "../../../src/features/exporter/exporter-api.ts";
import { configOf } from "../../fake/config.ts";
import type { IncomingCall } from "../../../src/core/http/message/incoming-call.ts";
import { PageGate } from "../../../src/core/http/pages/page-gate.ts";

function callOf(target: string): IncomingCall {
  const message = new IncomingMessage(new Socket());
  return {
    message,
    response: new ServerResponse(message),
    request: { method: "GET", target, host: undefined, nodeHeader: undefined, serverState: undefined },
    caller: { address: "127.0.0.1", principal: null, consumesAuthorization: false },
    limits: unrestrictedAccess.limits,
    onError: (error) => assert.ifError(error),
  };
}

/** The status that a worker answers itself; "relayed" if it relays the request. */
async function answerOf(gate: PageGate, api: "rest" | "diagnostics", target: string): Promise<number | string> {
  const relayed = new Error("relayed");
  const backend = buildWorkerBackend({
    gate,
    relayAddress: () => {
      throw relayed;
    },
    key: "key",
    pageOf: (request) => exporterApi.pageOf(request, configOf({ clusters: [] })),
  });
  const call = callOf(target);
  try {
    assert.equal(await backend[api](call), null);
    return call.response.statusCode;
  } catch (error) {
    assert.equal(error, relayed);
    return relayed.message;
  }
}

test("relays pages through the gate, and other requests without it", async (context) => {
  // A refusal is delayed by a timer that does not keep the process alive: in rolecall its connection does.
  const alive = setInterval(() => {}, 1_000);
  context.after(() => clearInterval(alive));
  for (const [api, target, page, atOnce] of [
    ["rest", "/metrics", "exporter metrics", 16],
    ["rest", "/stat", "exporter stat", 1],
    ["rest", "/explain", "exporter explain", 1],
    ["diagnostics", "/explain?node=pg1", "explain", 1],
  ] as const) {
    const gate = new PageGate();
    for (let renderings = 1; renderings < atOnce; renderings += 1) gate.enter(page, atOnce);
    assert.equal(await answerOf(gate, api, target), "relayed", target);
    gate.enter(page, atOnce);
    assert.equal(await answerOf(gate, api, target), 429, target);
    assert.equal(await answerOf(gate, "rest", "/version"), "relayed");
  }
});
