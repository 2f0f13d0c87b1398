import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDynamicConfig } from "../../../../src/core/cluster/documents/dynamic-config.ts";

test("parseDynamicConfig uses Patroni's defaults for missing and unusable values", () => {
  const defaults = {
    ttlMs: 30_000,
    loopWaitMs: 10_000,
    retryTimeoutMs: 10_000,
    lagMaxOnFailover: 1_048_576,
    isStandbyCluster: false,
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
