import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "node:test";
import { ChangeFilter } from "../../../src/features/dcs/scope-keys.ts";

const known = fc.constantFrom("leader", "sync", "failsafe", "failover", "history", "members/pg1", "members/");
const anyMember = fc.oneof(fc.json(), fc.constantFrom('{"role":"replica"}', '{"role":"primary"}'));
const anyEvent = fc.record({
  key: fc.oneof(known, fc.string()),
  value: fc.oneof(anyMember, fc.string(), fc.constant(null)),
});

test("any events of a watch announce changes of known keys only", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 8 }), (events) => {
      const filter = new ChangeFilter();
      for (const event of events) {
        const change = filter.changeOf(event);
        if (change?.kind === "leader") assert.ok(change.names === null || typeof change.names === "string");
        else if (change !== null) assert.match(change.key, /^(sync|failsafe|failover|members\/.*)$/s);
      }
    }),
    { numRuns: 1_000 },
  );
});
