import assert from "node:assert/strict";
import { test } from "node:test";
import type { FeatureCall } from "../../../src/core/http/admin-api/admin-api.ts";
import { answerFeed } from "../../../src/features/follow/feed-api.ts";

for (const [method, target, status, error] of [
  ["POST", "/feed", 503, "unavailable"],
  ["POST", "/feed/echo", 503, "unavailable"],
  ["GET", "/feed", 405, "method_not_allowed"],
  ["POST", "/feed/others", 404, "not_found"],
  ["POST", "/feed/clusters/more", 404, "not_found"],
] as const)
  test(`${method} ${target} is answered with ${status} where nobody can be fed`, async () => {
    const call = { call: { request: { method, target } }, only: null } as unknown as FeatureCall;
    const reply = await answerFeed(null, call);
    assert.deepEqual([reply?.status, JSON.parse(String(reply?.body)).error], [status, error]);
  });
