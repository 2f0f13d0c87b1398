import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { patched } from "../../../../src/tools/simulator/model/configuration.ts";
import { isJsonObject, type SimulatorObject } from "../../../../src/tools/simulator/model/json.ts";
import { readSettings } from "../../../../src/tools/simulator/model/settings.ts";
import { translateConfig } from "../../../../src/tools/simulator/api/vocabulary.ts";

const object = fc
  .object({ maxDepth: 3, withNullPrototype: false })
  .map((value) => JSON.parse(JSON.stringify(value)) as SimulatorObject);

describe("a change to the configuration", () => {
  it("merges objects, replaces values, and removes what is null", () => {
    const config = {
      ttl: 30,
      loop_wait: 10,
      postgresql: { use_slots: true, parameters: { work_mem: "4MB", max_connections: 50 } },
    };
    const change = {
      ttl: 20,
      loop_wait: null,
      postgresql: { parameters: { work_mem: null, fsync: "off" } },
      tags: { a: 1 },
    };
    assert.deepEqual(patched(config, change), {
      ttl: 20,
      postgresql: { use_slots: true, parameters: { max_connections: 50, fsync: "off" } },
      tags: { a: 1 },
    });
    assert.equal(config.ttl, 30);
  });
  it('treats "__proto__" as any other key', () => {
    const result = patched({}, JSON.parse('{"__proto__": {"pause": true}}') as SimulatorObject);
    assert.equal(JSON.stringify(result), '{"__proto__":{"pause":true}}');
    assert.equal(readSettings(result).pause, false);
  });
  it("leaves other keys unchanged", () => {
    fc.assert(
      fc.property(object, object, (config, change) => {
        const result = patched(config, change);
        for (const [key, value] of Object.entries(config))
          if (!Object.hasOwn(change, key)) assert.deepEqual(result[key], value);
        for (const [key, value] of Object.entries(change)) assert.equal(Object.hasOwn(result, key), value !== null);
      }),
    );
  });
});

describe("settings", () => {
  it("are valid for any configuration", () => {
    const field = fc.constantFrom(
      "ttl",
      "loop_wait",
      "maximum_lag_on_failover",
      "synchronous_mode",
      "pause",
      "standby_cluster",
      "postgresql",
      "database",
    );
    fc.assert(
      fc.property(fc.dictionary(field, fc.jsonValue()), (config) => {
        const { ttlMs, loopWaitMs, maximumLagOnFailover } = readSettings(
          JSON.parse(JSON.stringify(config)) as SimulatorObject,
        );
        assert.ok(ttlMs >= 20 && loopWaitMs >= 10 && loopWaitMs <= ttlMs / 2 && Number.isFinite(maximumLagOnFailover));
      }),
    );
  });
  it("have Patroni's defaults", () => {
    const { ttlMs, loopWaitMs, maximumLagOnFailover } = readSettings({});
    assert.deepEqual([ttlMs, loopWaitMs, maximumLagOnFailover], [30_000, 10_000, 1_048_576]);
  });
});

describe("a configuration in the other vocabulary", () => {
  const patroni = { ttl: 30, postgresql: { use_slots: true, use_pg_rewind: true, parameters: {} } };
  const neutral = { ttl: 30, database: { use_slots: true, use_db_rewind: true, parameters: {} } };
  it("has renamed database keys, in both directions", () => {
    assert.deepEqual(translateConfig(patroni, "neutral"), neutral);
    assert.deepEqual(translateConfig(neutral, "patroni"), patroni);
  });
  it("is unchanged in its own vocabulary", () => {
    fc.assert(
      fc.property(object, (config) => {
        const once = translateConfig(config, "neutral");
        assert.ok(isJsonObject(once));
        assert.deepEqual(translateConfig(once, "neutral"), once);
      }),
    );
  });
});
