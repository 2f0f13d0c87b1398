/** Which feature answers a path of an admin listener. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AdminApiContext,
  type AnswerOfFeature,
  answerAdminRequest,
} from "../../../../src/core/http/admin-api/admin-api.ts";
import type { IncomingCall } from "../../../../src/core/http/message/incoming-call.ts";
import { emptyReply } from "../../../../src/core/http/message/reply.ts";

const asked: string[] = [];

function answering(name: string): AnswerOfFeature {
  return ({ path }) => {
    asked.push(`${name}: ${path}`);
    return emptyReply({ code: 200, phrase: "OK" });
  };
}

async function answer(target: string, features: ReadonlyMap<string, AnswerOfFeature>): Promise<string> {
  asked.length = 0;
  const context = {
    scope: { cluster: null, clusters: ["demo"] },
    features,
    clusterRoutes: new Map([["lag", answering("lag")]]),
    edges: () => Promise.resolve({ edges: 1 }),
    diagnostics: {},
  };
  const request = { method: "GET", target };
  const call = { request, message: { headers: {} } } as unknown as IncomingCall;
  const reply = await answerAdminRequest(call, context as unknown as AdminApiContext);
  return asked.join() || `${reply?.status} ${String(reply?.body)}`;
}

const features = new Map([
  ["fleet/x", answering("two")],
  ["fleet", answering("one")],
  ["", answering("rest")],
]);

for (const [target, by] of [
  ["/fleet/x", "two: "],
  ["/fleet/x/y", "two: y"],
  ["/fleet/y/z", "one: y/z"],
  ["/fleet", "one: "],
  ["/", "rest: "],
  ["/page/a/b.js", "rest: page/a/b.js"],
  ["/edges", '200 {"edges":1}'],
  ["/clusters/demo/lag", "lag: lag"],
] as const)
  test(`${target} is answered by ${by}`, async () => {
    assert.equal(await answer(target, features), by);
  });

test("a path that nothing answers names those that there are; a page only if a feature answers the rest", async () => {
  assert.match(await answer("/clusters/demo/nope", features), /^404 .*\/edges, \/fleet\/x, \/fleet, .* a page at \//s);
  assert.doesNotMatch(await answer("/nope", new Map()), /page at/);
});
