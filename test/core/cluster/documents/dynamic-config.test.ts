import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePythonJson } from "../../../../src/core/cluster/values/python-json.ts";
import { parseDynamicConfig } from "../../../../src/core/cluster/documents/dynamic-config.ts";

test("parseDynamicConfig uses Patroni's defaults for missing and unusable values", () => {
  const defaults = {
    ttlMs: 30_000,
    loopWaitMs: 10_000,
    retryTimeoutMs: 10_000,
    lagMaxOnFailover: 1_048_576,
    isStandbyCluster: false,
    isSynchronous: false,
    isSynchronousStrict: false,
  };
  assert.deepEqual(parseDynamicConfig({}), defaults);
  assert.deepEqual(
    parseDynamicConfig({ ttl: -1, loop_wait: "5", retry_timeout: null, maximum_lag_on_failover: 1.5 }),
    defaults,
  );
  assert.deepEqual(parseDynamicConfig({ ttl: 20, standby_cluster: {} }), {
    ...defaults,
    ttlMs: 20_000,
    isStandbyCluster: true,
  });
  assert.equal(parseDynamicConfig([]), undefined);
});

test("reads the switches of synchronous mode as Patroni does, and leaves out what cannot be read", () => {
  const switches = (document: object): unknown => {
    const { isSynchronous, isSynchronousStrict } = parseDynamicConfig(document) ?? {};
    return [isSynchronous, isSynchronousStrict];
  };
  for (const on of [true, "on", "Yes", "true", "1", 1])
    assert.deepEqual(switches({ synchronous_mode: on, synchronous_mode_strict: on }), [true, true], String(on));
  for (const off of [false, "off", "no", 0, "2", null, [], {}])
    assert.deepEqual(
      switches({ synchronous_mode: off, synchronous_mode_strict: off }),
      [false, false],
      JSON.stringify(off),
    );
  assert.deepEqual(switches({ synchronous_mode: "quorum", synchronous_mode_strict: "quorum" }), [true, false]);
  assert.deepEqual(switches({ synchronous_mode: parsePythonJson("NaN"), synchronous_mode_strict: true }), [
    undefined,
    true,
  ]);
});
