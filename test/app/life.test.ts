import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { parse } from "yaml";
import { newLife, nextStep, type Life, type LifeEvent } from "../../src/app/life.ts";

const table: Readonly<Record<string, Readonly<Record<LifeEvent, string>>>> = parse(
  readFileSync("test/spec/life/life.yaml", "utf8"),
);
const events = Object.keys(table["serving"] ?? {}) as readonly LifeEvent[];

function nameOf(life: Life): string {
  return "wantsReload" in life && life.wantsReload ? `${life.kind}+reload` : life.kind;
}

/** Every state that can be reached, by its name. */
function reachable(): ReadonlyMap<string, Life> {
  const found = new Map([[nameOf(newLife), newLife]]);
  for (const life of found.values())
    for (const event of events) {
      const { life: next } = nextStep(life, event);
      found.set(nameOf(next), next);
    }
  return found;
}

describe("the life of a process", () => {
  const states = reachable();

  test("has the states of the table, and no others", () => {
    assert.deepEqual([...states.keys()].toSorted(), Object.keys(table).toSorted());
  });

  for (const [name, life] of states)
    for (const event of events)
      test(`${name}, ${event}: ${table[name]?.[event]}`, () => {
        const { life: next, action } = nextStep(life, event);
        assert.equal(`${nameOf(next)} ${action}`, table[name]?.[event]);
      });

  test("nothing is put in force and no reload begins after the first request to end", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events)), (sequence) => {
        let [life, isEnding] = [newLife, false];
        for (const event of sequence) {
          const { life: next, action } = nextStep(life, event);
          isEnding ||= event === "drain_requested" || event === "end_requested";
          if (isEnding)
            assert.ok(action !== "commit" && action !== "load" && action !== "queue", `${event}: ${action}`);
          life = next;
        }
      }),
    );
  });
});
