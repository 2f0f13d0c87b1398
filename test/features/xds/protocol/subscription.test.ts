import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { array, assert as check, nat, property, record, subarray, tuple } from "fast-check";
import { SharedNames } from "../../../../src/features/xds/protocol/shared-names.ts";
import { Subscription } from "../../../../src/features/xds/protocol/subscription.ts";
import type { XdsRequest } from "../../../../src/features/xds/protocol/xds-messages.ts";

const client = { id: "envoy", cluster: "", zone: "", agent: "", version: null };
const pools = Array.from({ length: 40 }, (_, at) => `pool-${at}`);
const anyNames = subarray([...pools, "elsewhere-1", "elsewhere-2"]);

function request(names: XdsRequest["names"]): XdsRequest {
  return { client, type: "", nonce: "", refusal: null, names };
}

suite("the names that streams share", () => {
  test("are one set where they are the same, in whatever order they come", () => {
    const shared = new SharedNames();
    const one = shared.of(new Set(pools));
    assert.equal(shared.of(new Set(pools.toReversed())), one);
    assert.notEqual(shared.of(new Set(pools.slice(1))), one);
    assert.equal(shared.of(new Set(pools)), one);
  });

  test("are those of a few kinds of clients at most", () => {
    const shared = new SharedNames();
    const first = shared.of(new Set(pools));
    for (let kind = 1; kind <= 8; kind += 1) shared.of(new Set(pools.slice(kind)));
    assert.notEqual(shared.of(new Set(pools)), first);
  });

  test("change in no stream because another one subscribes to more, or to less", () => {
    const change = record({ subscribe: anyNames, unsubscribe: anyNames });
    check(
      property(array(tuple(nat(2), change), { maxLength: 20 }), (changes) => {
        const shared = new SharedNames();
        const isKnown = (name: string): boolean => name.startsWith("pool-");
        const streams = [0, 1, 2].map(() => new Subscription(isKnown, shared));
        const models = [0, 1, 2].map(() => new Set(pools));
        for (const stream of streams)
          stream.receive(request({ form: "delta", subscribe: pools, unsubscribe: [], versions: {} }));
        for (const [at, { subscribe, unsubscribe }] of changes) {
          streams[at]?.receive(request({ form: "delta", subscribe, unsubscribe, versions: {} }));
          for (const name of subscribe) models[at]?.add(name);
          for (const name of unsubscribe) models[at]?.delete(name);
        }
        for (const [at, stream] of streams.entries())
          for (const name of [...pools, "elsewhere-1", "elsewhere-2"])
            assert.equal(stream.isSubscribed(name), models[at]?.has(name), `${name} of stream ${at}`);
      }),
    );
  });
});
